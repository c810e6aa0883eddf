"""What a paper is: its tables and figures, the cells of work behind them, and what the page says of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from hyperbaton.base.progress import default_threads

if TYPE_CHECKING:
    from hyperbaton.report.elements import Element

Result = dict[str, Any]
Results = Mapping[str, Result]  # by the cell's name

# What docs/papers.md may say of a table or figure.
MARKS = ("reproduced", "same direction", "not reproduced", "not run yet")


def silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Setting:
    """Where a paper's work is done, how much of it, and by what.

    `data` is the folder of the corpora; None stands for generated text. `quick` makes everything small. `threads` are those
    of all `jobs` together; results depend on neither.
    """

    output: Path
    data: Path | None = None
    quick: bool = False
    seed: int = 1
    threads: int = field(default_factory=default_threads)
    tuning_lines: int = 0  # of the development text; 0: as many as the paper's protocol has
    pop_limit: int = 0  # of the search; 0: the protocol's
    device: str | None = None  # where PyTorch trains what it can train, as in cuda; None: processors, without PyTorch
    jobs: int = 1  # cells, or stages of cells, at a time
    say: Callable[[str], None] = silent


@dataclass(frozen=True)
class Cell:
    """A piece of work: its name, everything that its result depends on besides the text, and whether it is an experiment
    of `run`."""

    name: str
    options: dict[str, Any]
    experiment: bool = False


@dataclass(frozen=True)
class PaperItem:
    """A table or figure of a paper."""

    name: str  # as in "Table 4"
    title: str


class Paper(ABC):
    """One paper. Cells come in the order in which they are worked on, cheap ones first."""

    title: ClassVar[str]
    items: ClassVar[tuple[PaperItem, ...]]
    differences: ClassVar[tuple[str, ...]]  # of text and protocol, in sentences

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def cells(self) -> Sequence[Cell]:
        """All cells of the protocol."""

    def work(self, cell: Cell) -> Result:
        """Do a cell that is no experiment."""
        raise NotImplementedError

    @abstractmethod
    def experiment(self, cell: Cell) -> dict[str, Any]:
        """The experiment file of a cell that is one."""

    @abstractmethod
    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        """What the page shows of a table or figure; nothing where no cell of it is done."""
