"""eflomal (Östling and Tiedemann 2016) as an external aligner.

It is under the GPL and is only run as a separate program: texts and links pass through temporary files, and nothing is
imported from it. The extra `eflomal` installs it. It samples and cannot be seeded, so its links differ
slightly from run to run, and it trains and links in one step, so there is no model to save.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hyperbaton.align.base import WordAligner
from hyperbaton.align.link_files import read_links
from hyperbaton.base.arrays import offsets_of
from hyperbaton.base.errors import HyperbatonError, MissingExtra
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Bitext, Links
from hyperbaton.corpus.files import write_pieces

PROGRAM = "eflomal-align"


@dataclass
class Eflomal(WordAligner):
    """The program eflomal, if it is installed: Gibbs sampling of an HMM with fertilities."""

    def directed_links(self, bitext: Bitext, threads: int, progress: Progress | None) -> tuple[Links, Links]:
        # A virtual environment's programs are in the folder of its Python, which may not be on the path.
        program = shutil.which(PROGRAM) or shutil.which(PROGRAM, path=str(Path(sys.executable).parent))
        if program is None:
            raise MissingExtra("eflomal", "eflomal")
        # eflomal does not accept empty lines.
        full = np.flatnonzero((bitext.source.lengths > 0) & (bitext.target.lengths > 0))
        if not len(full):
            nothing = Links.of([[]] * len(bitext))
            return nothing, nothing
        chosen = bitext.select(full)
        with tempfile.TemporaryDirectory(prefix="hyperbaton-eflomal-") as name:
            folder = Path(name)
            for side, text in (("source", chosen.source), ("target", chosen.target)):
                write_pieces(folder / side, text.pieces())
            to_target, to_source = folder / "to-target", folder / "to-source"
            command = [program, "-s", str(folder / "source"), "-t", str(folder / "target")]
            command += ["-f", str(to_target), "-r", str(to_source)]
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=os.environ | {"OMP_NUM_THREADS": str(threads)},
            )
            if done.returncode != 0 or not to_target.exists() or not to_source.exists():
                said = done.stdout.decode("utf-8", "replace").strip().splitlines()
                last = said[-1] if said else "it printed no message"
                raise HyperbatonError(f"{PROGRAM} failed with status {done.returncode}: {last}")
            backward, forward = read_links(to_target, chosen), read_links(to_source, chosen)
        return _spread(forward, full, len(bitext)), _spread(backward, full, len(bitext))


def _spread(links: Links, sentences: np.ndarray[tuple[int], np.dtype[np.int64]], n: int) -> Links:
    """Links of all sentence pairs, given those of chosen pairs; the others have no links."""
    counts = np.zeros(n, np.int64)
    counts[sentences] = np.diff(links.offsets)
    return Links(links.points, offsets_of(counts))
