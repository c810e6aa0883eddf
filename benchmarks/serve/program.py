"""A running `hyperbaton serve` for benchmarks, and a system trained on generated text for it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.corpus.processing import TextProcessing, TextSide
from hyperbaton.data import generate
from hyperbaton.decode import System
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract


def make_system(folder: Path, n_sentences: int = 2000) -> tuple[Path, Path]:
    """Train a system and an aligner on generated text, labelled German to English; returns their folders."""
    made = generate(n_sentences, seed=1)
    bitext = made.bitext
    table = PhraseTable.build(bitext, extract(bitext, max_length=5))
    lm = LanguageModel.estimate(bitext.target, order=3)
    lexicalized = MODELS["lexicalized"]().fit(bitext)
    text = TextProcessing(TextSide("de", "none"), TextSide("en", "none"))
    System.of(table, [lm], {"LR": lexicalized}).with_text(text).save(folder / "system")
    Aligner().fit(bitext).save(folder / "aligner")
    return folder / "system", folder / "aligner"


def generated_lines(n: int) -> list[str]:
    """Source sentences that are not in the training text."""
    return [" ".join(line) for line in generate(n, seed=2).bitext.source]


@dataclass
class Program:
    """The process of a service."""

    process: subprocess.Popen[str]
    port: int

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def processor_seconds(self) -> float:
        """The processor time of all threads of the process."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def mib(self) -> float:
        """The resident memory of the process, including mapped files, in MiB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        match = re.search(r"VmRSS:\s+(\d+)", status)
        return int(match[1]) / 1024 if match else 0.0


@contextlib.contextmanager
def serving(arguments: Sequence[object], log: Path) -> Iterator[Program]:
    """Run `hyperbaton serve` on a free port of this machine; its log goes to a file."""
    command = [sys.executable, "-m", "hyperbaton", "serve", *map(str, arguments), "--port", "0"]
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(command, stderr=stream, text=True)
        try:
            while not (match := re.search(r"listening at http://127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8"))):
                if process.poll() is not None:
                    raise SystemExit(log.read_text(encoding="utf-8"))
            yield Program(process, int(match[1]))
        finally:
            process.terminate()
            process.wait(120)


@contextlib.contextmanager
def system_or_generated(named: Sequence[str]) -> Iterator[list[object]]:
    """The systems named on the command line, or one trained on generated text."""
    if named:
        yield list(named)
        return
    with TemporaryDirectory() as folder:
        system, aligner = make_system(Path(folder))
        yield [system, "--aligner", aligner]
