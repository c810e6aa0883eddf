"""The tables and figures of the papers, by the papers' protocols: one file for each paper, found by its name.

    reproduce("ni11", Path("ni11"), data=Path("corpora"))              hyperbaton reproduce ni11 --data corpora -o ni11

A protocol is a list of cells. A cell is the smallest piece of work with a separate result: for example one model trained
on one part of a text, or one group of systems tuned and compared. Its result is a small JSON file, written when it is
done, so the same command continues an interrupted run. The page is made from the available results.
"""

from hyperbaton.base.registry import Registry
from hyperbaton.reproduce._paper import MARKS, Cell, Paper, PaperItem, Setting
from hyperbaton.reproduce._whole import CellFailed, Reproduction, cell_states, reproduce

__all__ = [
    "MARKS",
    "PAPERS",
    "Cell",
    "CellFailed",
    "Paper",
    "PaperItem",
    "Reproduction",
    "Setting",
    "cell_states",
    "reproduce",
]

PAPERS: Registry[Paper] = Registry("paper", "hyperbaton.reproduce", Paper)
