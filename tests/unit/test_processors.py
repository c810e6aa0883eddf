"""Results do not depend on the processor: the same small experiment on two that differ, file by file.

Which code NumPy, OpenBLAS and the C library run is chosen by the processor, and can be changed by variables: that makes
another processor of this one. The functions below show that it does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hyperbaton import data
from tests.clocks import PATIENCE

DRIVER = """
import os, sys
from hyperbaton.cli import Program
for line in sys.stdin.read().strip().splitlines():
    output, *command = line.split()
    with open(os.devnull if output == "-" else output, "wb") as file:
        os.dup2(file.fileno(), 1)
        Program()(command, standalone_mode=False)
        sys.stdout.flush()
"""
TEXTS = "train.source train.target train.links"
TAGS = "--source-tags train.source.tags"
# With weights that tuning can improve.
MODELS = "--reordering D=dpr --reordering L=lexicalized --reordering N=nine --weight WordPenalty0=1 --weight LM0=-0.5"
# Where stdout goes, and the command.
COMMANDS = f"""
links      align train.source train.target
classes    classes train.target --classes 8 --runs 1
-          extract {TEXTS} -o phrases
-          lm train.target -o lm --order 3
perplexity perplexity lm test.target
-          train block_me {TEXTS} -o block_me {TAGS} --source-trees train.source.trees --min-count 2
-          train dpr {TEXTS} -o dpr --features context:min-count=2
-          train dual_mlr {TEXTS} -o dual_mlr --learner dual_eg:max-passes=5
-          train lexicalized {TEXTS} -o lexicalized
-          train linear {TEXTS} -o linear
-          train linear_jump {TEXTS} -o linear_jump
-          train maxent {TEXTS} -o maxent --learner lbfgs:max-passes=5
-          train mmr {TEXTS} -o mmr --learner mmr:max-passes=5
-          train mms {TEXTS} -o mms --learner psl:max-passes=5
-          train nine_class {TEXTS} -o nine --min-count 2
-          train pair {TEXTS} -o pair {TAGS} --min-count 2
-          train sequence {TEXTS} -o sequence {TAGS} --min-count 2 --learner lbfgs:max-passes=10
-          train svm {TEXTS} -o svm --learner svm:max-passes=5
evaluation evaluate dpr test.source test.target test.links --json
jumps      evaluate nine test.source test.target test.links --json
-          system -o system --phrases phrases --lm lm {MODELS}
-          tune system dev.source dev.target -o mert --optimizer mert --iterations 2 --nbest 30 --stack 30
-          tune system dev.source dev.target -o mira --optimizer mira --iterations 2 --nbest 30 --stack 30 --metric meteor
-          tune system dev.source dev.target -o pro --optimizer pro --iterations 2 --nbest 30 --stack 30
nbest      translate mira test.source --nbest 10
hypotheses translate mert test.source
baseline   translate system test.source
scores     score hypotheses test.target --against baseline --metrics bleu,ter,meteor,ribes,nist,chrf,wer --samples 50 --json
"""

NUMPY = "numpy._core._multiarray_umath"


def other_processor() -> dict[str, str]:
    """Variables that make libraries run the code for a processor without wide vectors and fused operations."""
    dispatched = sys.modules[NUMPY].__cpu_dispatch__
    return {
        "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched),
        "OPENBLAS_CORETYPE": "Prescott" if "X86_V3" in dispatched else "ARMV8",
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX2_Usable,-FMA_Usable",
    }


def environment(changes: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **changes}


def without_times(value: Any) -> Any:
    if isinstance(value, dict):
        # The checksum of a manifest is also one of the times in it; arrays are compared byte by byte.
        ignored = ("seconds", "_mib", "checksum")
        return {name: without_times(item) for name, item in value.items() if not name.endswith(ignored)}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def content(path: Path) -> Any:
    text = path.read_bytes()
    return without_times(json.loads(text)) if path.suffix == ".json" or text.startswith(b"{") else text


@pytest.mark.slow
def test_two_processors_give_the_same_bits(tmp_path: Path) -> None:
    def run(name: str, changes: dict[str, str]) -> None:
        data.generate(330, seed=5).write(tmp_path / name, 15, 15)
        command, how = [sys.executable, "-c", DRIVER], environment(changes)
        done = subprocess.run(
            command,
            cwd=tmp_path / name,
            env=how,
            input=COMMANDS,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr

    with ThreadPoolExecutor(2) as pool:
        for running in [pool.submit(run, "this", {}), pool.submit(run, "other", other_processor())]:
            running.result()
    this, other = (
        {str(path.relative_to(tmp_path / name)): path for path in (tmp_path / name).rglob("*") if path.is_file()}
        for name in ("this", "other")
    )
    assert this.keys() == other.keys() and len(this) > 200
    assert [name for name in this if content(this[name]) != content(other[name])] == []


def test_the_simulated_processor_changes_results_of_numpy() -> None:
    """NumPy's own functions give other results there; otherwise the test above would prove nothing."""
    features = sys.modules[NUMPY].__cpu_features__
    if not features.get("X86_V3"):
        pytest.skip("this processor has nothing that could be taken from it")
    code = (
        "import math, numpy as np; x = np.random.default_rng(1).random((300, 300));"
        "print(*(hash(v.tobytes()) for v in (np.exp(x), np.log(x), x @ x)), hash(tuple(map(math.exp, x.ravel().tolist()))))"
    )
    digests = [
        subprocess.run([sys.executable, "-c", code], env=how, check=True, stdout=subprocess.PIPE).stdout.split()
        for how in (environment({"PYTHONHASHSEED": "0"}), environment({"PYTHONHASHSEED": "0", **other_processor()}))
    ]
    assert all(this != other for this, other in zip(*digests, strict=True)), digests
