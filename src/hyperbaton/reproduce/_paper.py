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


@dataclass(frozen=True)
class Setting:
    """Where a paper's work is done, and how much of it.

    `data` is the folder of the corpora; None stands for generated text. `quick` makes everything small.
    """

    output: Path
    data: Path | None = None
    quick: bool = False
    seed: int = 1
    threads: int = field(default_factory=default_threads)
    say: Callable[[str], None] = lambda line: None


@dataclass(frozen=True)
class Cell:
    """A piece of work: its name, and everything that its result depends on besides the text."""

    name: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Item:
    """A table or figure of a paper."""

    name: str  # as in "Table 4"
    title: str


class Paper(ABC):
    """One paper. Cells come in the order in which they are worked on, cheap ones first."""

    title: ClassVar[str]
    items: ClassVar[tuple[Item, ...]]
    differences: ClassVar[tuple[str, ...]]  # of text and protocol, in sentences

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    @abstractmethod
    def cells(self) -> Sequence[Cell]:
        """All cells of the protocol."""

    @abstractmethod
    def work(self, cell: Cell) -> Result:
        """Do one cell."""

    @abstractmethod
    def elements(self, item: Item, results: Results) -> list[Element]:
        """What the page shows of a table or figure; nothing where no cell of it is done."""
