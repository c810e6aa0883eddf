"""Stages on generated text, run as commands of the program, each in a separate process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.growth.disk import Watch
from hyperbaton.data import generate


@dataclass(frozen=True)
class Stage:
    """A stage: the words of its command line after `hyperbaton`, and whether it takes --memory and --threads."""

    words: str
    output: str = ""  # a file for stdout
    limited: bool = False
    threaded: bool = True


TEXT = "train.source train.target"
JUMPS = f"train {{0}} {TEXT} train.links -o {{0}} --source-tags train.source.tags"
STAGES = {
    "align": Stage(f"align {TEXT}", "links"),
    "align-saved": Stage(f"align {TEXT} --model ../aligner", "links"),
    "classes": Stage("classes train.target", "classes"),
    "extract": Stage(
        f"extract {TEXT} train.links -o phrases --moses moses --reordering hier-mslr-bidirectional-fe", limited=True
    ),
    "phrases": Stage(f"extract {TEXT} train.links -o phrases", limited=True),
    "prune": Stage(f"prune phrases {TEXT} -o pruned"),
    "lm": Stage("lm train.target -o lm --discount-fallback", limited=True),
    "rules": Stage(f"extract {TEXT} train.links -o rules --hierarchical --for dev.source", limited=True),
    "system": Stage(
        "system -o system --phrases phrases --lm lm --reordering LR=hier-mslr-bidirectional-fe", threaded=False
    ),
    "chart": Stage("system -o chart --rules rules --lm lm", threaded=False),
    "tune": Stage("tune system dev.source dev.target -o tuned --iterations 2"),
    "tune-rules": Stage("tune chart dev.source dev.target -o tuned-rules --iterations 2"),
    "dpr": Stage(f"train dpr {TEXT} train.links -o dpr", limited=True),
    "pair": Stage(f"{JUMPS.format('pair')} --learner lbfgs:variance=0.1:max-passes=5", limited=True),
    "sequence": Stage(f"{JUMPS.format('sequence')} --learner lbfgs:variance=0.003:warmup=2:max-passes=5", limited=True),
}


PIECE = 1_000_000  # sentence pairs that are generated at once
N_GENERATED = 2  # pieces; further ones repeat them with other words, which takes little time
N_DEV = 200  # sentence pairs to tune on, unless another number is given
FILES = ("train.source", "train.target", "train.links", "train.source.tags")  # that stages read


def write_text(folder: Path, n: int, seed: int) -> None:
    """Generate a text of n sentence pairs and one to tune on; every million pairs have their own seed, or other words."""
    generate(2 * N_DEV, seed=seed + N_GENERATED).write(folder, N_DEV, 0)
    sizes = [min(PIECE, n - at) for at in range(0, n, PIECE)]
    with tempfile.TemporaryDirectory(dir=folder) as temporary, ProcessPoolExecutor() as pool:
        pieces = [Path(temporary) / str(i) for i in range(len(sizes))]
        list(pool.map(_write_piece, pieces[:N_GENERATED], sizes, range(seed, seed + N_GENERATED)))
        copied = range(N_GENERATED, len(sizes))
        list(
            pool.map(
                _copy_piece, [pieces[i % N_GENERATED] for i in copied], pieces[N_GENERATED:], copied, sizes[N_GENERATED:]
            )
        )
        for name in FILES:
            with (folder / name).open("wb") as whole:
                for piece in pieces:
                    with (piece / name).open("rb") as part:
                        shutil.copyfileobj(part, whole)


def cut_text(folder: Path, n: int, train: list[Path], n_dev: int, dev: list[Path]) -> None:
    """Write the first n lines of source, target and links, and the first n_dev of the source and target to tune on."""
    names = ("train.source", "train.target", "train.links", "dev.source", "dev.target")
    for name, path, size in zip(names, [*train, *dev], [n] * 3 + [n_dev] * 2, strict=True):
        with path.open("rb") as lines, (folder / name).open("wb") as part:
            part.writelines(islice(lines, size))


def _write_piece(folder: Path, n: int, seed: int) -> None:
    folder.mkdir()
    generate(n, seed=seed).write(folder, 0, 0)
    for file in folder.iterdir():
        if file.name not in FILES:
            file.unlink()


def _copy_piece(generated: Path, folder: Path, number: int, n: int) -> None:
    """A copy of n lines in which a quarter of the word types have other names, so that nearly all long phrases are new."""
    folder.mkdir()
    for name in FILES:
        names = _NewNames(number if name in ("train.source", "train.target") else 0)
        with (generated / name).open(encoding="utf-8") as lines, (folder / name).open("w", encoding="utf-8") as copy:
            copy.writelines(" ".join([names[word] for word in line.split()]) + "\n" for line in islice(lines, n))


class _NewNames(dict[str, str]):
    """The words of copy `number` by those of the original; copy 0 is the original."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def __missing__(self, word: str) -> str:
        is_renamed = self.number and crc32(f"{self.number} {word}".encode()) % 4 == 0
        self[word] = f"{word}~{self.number}" if is_renamed else word
        return self[word]


def save_aligner(folder: Path) -> None:
    """An aligner trained on the text in the folder, saved next to it."""
    learn = f"align {TEXT} --save-model ../aligner -o links --quiet".split()
    subprocess.run([sys.executable, "-m", "hyperbaton", *learn], cwd=folder, check=True)


def measure(stage: Stage, folder: Path, n: int, memory: str | None, threads: int) -> dict[str, Any]:
    """Wall-clock and processor seconds of a stage, and its peak memory and disk space.

    Resident pages of mapped files count as memory. The space that a stage keeps is the growth of its folder.
    """
    limit = ["--memory", memory] if memory and stage.limited else []
    limit += ["--threads", str(threads)] if stage.threaded else []
    command = [sys.executable, "-m", "hyperbaton", *stage.words.split(), *limit, "--quiet"]
    start = time.perf_counter()
    with (folder / (stage.output or "stdout")).open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output)
        with Watch(process.pid, folder) as watch:
            _, status, used = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    seconds = time.perf_counter() - start
    processor = used.ru_utime + used.ru_stime
    scale = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "pairs": n,
        "seconds": seconds,
        "processor_s": processor,
        "peak_mib": used.ru_maxrss / scale,
        "private_mib": watch.private / 2**20,
        "disk_mb": watch.peak / 1e6,
        "kept_mb": watch.kept / 1e6,
    }
