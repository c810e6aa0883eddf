"""The definition of a paper: its tables and figures, its cells, and the content of the page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.progress import default_threads

if TYPE_CHECKING:
    from hyperbaton.report.elements import Element

Result = JsonObject
Results = Mapping[str, Result]  # by the cell's name

# The marks of a table or figure in docs/papers.md.
MARKS = ("reproduced", "same direction", "not reproduced", "not run yet")


def silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Setting:
    """Where and with which resources a paper's work is done.

    `data` is the folder of the corpora; None means generated text. `quick` makes everything small. `threads` is the total
    for all `jobs`; results depend on neither.
    """

    output: Path
    data: Path | None = None
    quick: bool = False
    seed: int = 1
    threads: int = field(default_factory=default_threads)
    tuning_lines: int = 0  # of the development text; 0: the protocol's number
    pop_limit: int = 0  # of the search; 0: the protocol's
    device: str | None = None  # PyTorch device for models that support it, e.g. cuda; None: processors, without PyTorch
    jobs: int = 1  # cells, or stages of cells, at a time
    say: Callable[[str], None] = silent


@dataclass(frozen=True)
class Cell:
    """A piece of work: its name, everything that its result depends on besides the text, and whether it is an experiment
    of `run`."""

    name: str
    options: JsonObject
    experiment: bool = False


@dataclass(frozen=True)
class PaperItem:
    """A table or figure of a paper."""

    name: str  # as in "Table 4"
    title: str

    @property
    def key(self) -> str:
        """Its name in anchors and names of files."""
        return self.name.lower().replace(" ", "-")


class Paper(ABC):
    """One paper. Cells are in processing order, cheap ones first."""

    title: ClassVar[str]
    items: ClassVar[tuple[PaperItem, ...]]
    differences: ClassVar[tuple[str, ...]]  # of text and protocol, in sentences

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def cells(self) -> Sequence[Cell]:
        """All cells of the protocol."""

    def work(self, cell: Cell) -> Result:
        """Run a cell that is not an experiment."""
        raise NotImplementedError

    @abstractmethod
    def experiment(self, cell: Cell) -> JsonObject:
        """The experiment file of a cell that is an experiment."""

    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        """The page's elements for a table or figure, by the method of its name; empty if none of its cells is done."""
        elements: list[Element] = getattr(self, f"_{item.key.replace('-', '_')}")(results)
        return elements
