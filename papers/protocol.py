"""What a paper consists of: cells of work with results, and tables and figures made from the results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar, cast

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.progress import default_threads

if TYPE_CHECKING:
    from hyperbaton.report.elements import Element

# The marks of a table or figure in docs/papers.md.
MARKS = ("reproduced", "same direction", "not significant", "partly", "not reproduced", "not run yet")


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
    jobs: int = 1  # cells, or stages of cells, at a time
    say: Callable[[str], None] = silent


@dataclass(frozen=True)
class Result:
    """The result of a cell, stored as the JSON of its fields."""

    @classmethod
    def from_json(cls, fields: JsonObject) -> Self:
        """The result that was stored."""
        return cls(**fields)


R = TypeVar("R", bound=Result)
R_co = TypeVar("R_co", bound=Result, covariant=True)


@dataclass(frozen=True)
class Cell(ABC, Generic[R_co]):
    """A piece of work: a `Computation`, or an experiment of `run` (`papers.experiments.Experiment`).

    Its fields are everything that its result depends on besides the text and the setting.
    """

    result_type: ClassVar[type[Result]]
    translates: ClassVar[bool] = False  # whether the result depends on how the setting limits tuning and search

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name, unique in the paper: also the name of the file with its result."""

    @abstractmethod
    def corpus_files(self, data: Path) -> Sequence[Path]:
        """The files that it reads from the folder of the corpora, without `.xz`."""

    def identity(self, setting: Setting) -> JsonObject:
        """What the result depends on: a stored result with another identity is not used."""
        limits = {"tuning_lines": setting.tuning_lines, "pop_limit": setting.pop_limit} if self.translates else {}
        text = "generated" if setting.data is None else "corpora"
        return {"cell": asdict(self), "quick": setting.quick, "seed": setting.seed, "text": text, **limits}


@dataclass(frozen=True)
class Computation(Cell[R_co]):
    """A cell that computes its result in one process."""

    @abstractmethod
    def work(self, setting: Setting) -> R_co:
        """Compute the result."""


class Results:
    """Results of the finished cells, by the names of the cells."""

    def __init__(self, stored: Mapping[str, Result]) -> None:
        self.stored = stored

    def __len__(self) -> int:
        return len(self.stored)

    def of(self, cell: Cell[R]) -> R | None:
        """The result of a cell, if it is done."""
        return cast("R | None", self.stored.get(cell.name))


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
    def cells(self) -> Sequence[Cell[Result]]:
        """All cells of the protocol."""

    @abstractmethod
    def elements(self, item: PaperItem, results: Results) -> list[Element]:
        """The page's elements for a table or figure; empty if none of its cells is done."""
