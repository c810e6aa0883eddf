"""Common parts of the commands for systems: weights and decoding options as flags."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import AnnotationError, InputError, OptionError, SentenceError
from hyperbaton.base.options import option, options_of
from hyperbaton.cli._common import need_as_many_lines, verify_artefacts
from hyperbaton.cli._parameters import READS, Flag, Reads, SharedOptions, Verify
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.files import read_sentences, shown
from hyperbaton.decode import Decoding, System, annotate
from hyperbaton.decode.options import check_applies

if TYPE_CHECKING:
    from hyperbaton.corpus.processing import TextProcessing, TextSide

Weights = Annotated[
    list[str] | None, Flag("Weight of a feature, or several, NAME=V,V,…; may be repeated.", metavar="NAME=VALUE")
]

Copy = Annotated[bool, Flag("Copy all parts into the system instead of referring to them.")]

_LEARN = ":learn="


def _learned_from(settings: str) -> list[str]:
    _, learn, path = settings.partition(_LEARN)
    return [path] if learn else []


SourceText = Annotated[
    str | None,
    Flag(
        "How raw source text is processed, e.g. ja:tokenizer=fugashi or en:casing=truecase:learn=FILE.",
        metavar="XX:OPTION=VALUE…",
    ),
    Reads(_learned_from),
]
TargetText = Annotated[
    str | None, Flag("How raw target text is processed.", metavar="XX:OPTION=VALUE…"), Reads(_learned_from)
]

# Decoding options; those not given keep the system's values.
DecodingFlags = dataclasses.make_dataclass(
    "DecodingFlags",
    [
        (
            opt.name,
            opt.type | None,
            option(
                None, f"{opt.help} [default: the system's]", choices=opt.choices, minimum=opt.minimum, maximum=opt.maximum
            ),
        )
        for opt in options_of(Decoding)
    ],
    namespace={"__module__": __name__},
    repr=False,
    eq=False,
)


def read_beside(path: str, source: str, n_lines: int) -> list[str]:
    """A file with a line for each sentence of the source."""
    lines = list(read_sentences(path, lenient=True))
    need_as_many_lines(path, len(lines), source, n_lines)
    return lines


@dataclass(frozen=True)
class SystemOptions(SharedOptions):
    """Options of commands that translate a text with a system."""

    source_tags: Annotated[str | None, Flag("Tags of the source words, for models trained with tags."), READS] = None
    source_trees: Annotated[
        str | None, Flag("Trees of the source sentences, bracketed or .conllu, for models that use them."), READS
    ] = None
    verify: Verify = False
    weight: Weights = None

    def load(self, system: Path, *others: Path) -> System:
        """The system with the given weights; the artefacts of all systems are verified if asked."""
        verify_artefacts(self.verify, system, *others)
        return System.load(system).with_weights(parse_weights(self.weight))

    def annotations(self, source: str, lines: Sequence[str]) -> Annotations:
        tags, trees = self.source_tags, self.source_trees
        return annotate(
            lines,
            tags=None if tags is None else read_beside(tags, source, len(lines)),
            trees=None if trees is None else _read_trees_beside(trees, len(lines)),
        )

    @contextmanager
    def naming_inputs(self, source: str | None) -> Iterator[None]:
        """Name the file in errors about its sentences, and about tags and trees that do not match them.

        `source` is None if sentences are not lines.
        """
        try:
            yield
        except AnnotationError as error:
            path = self.source_tags if error.kind == "tags" else self.source_trees
            raise InputError(error.what, None if path is None else shown(path), error.line) from error
        except SentenceError as error:
            if source is None:
                raise
            raise InputError(error.what, shown(source), error.line) from error


def _read_trees_beside(path: str, n_lines: int) -> list[str]:
    """A bracketed tree, or nothing, for each line of a text."""
    from hyperbaton.corpus import read_tree_lines

    lines = list(islice(read_tree_lines(path), n_lines + 1))
    if len(lines) < n_lines or any(lines[n_lines:]):
        trees = "more trees" if len(lines) > n_lines else counted(len(lines), "tree")
        what = f"has {trees}, but the text has {counted(n_lines, 'line')}"
        raise InputError(what, shown(path), min(len(lines), n_lines) + 1)
    return lines[:n_lines]


def parse_text(source: str | None, target: str | None) -> TextProcessing | None:
    """Parse --source-text and --target-text: `en:tokenizer=sacremoses:casing=truecase:learn=FILE`."""
    if source is None and target is None:
        return None
    from hyperbaton.corpus.processing import TextProcessing

    return TextProcessing(_parse_side("--source-text", source), _parse_side("--target-text", target))


def _parse_side(flag: str, text: str | None) -> TextSide:
    from hyperbaton.corpus import Text
    from hyperbaton.corpus.processing import TextSide

    settings, learn, path = (text or "").partition(_LEARN)
    try:
        side = TextSide.parse(settings)
    except OptionError as error:
        raise OptionError(f"{flag} {text}: {error}") from error
    if learn:
        return side.learn(Text.read(path))
    if side.casing == "truecase":
        raise OptionError(f"{flag} {text}: truecasing is learned from text: add :learn=FILE, tokenized text with capitals")
    return side


def changed(system: System, flags: Any) -> Decoding:
    """The system's decoding options, updated with the given ones."""
    values = {f.name: getattr(flags, f.name) for f in dataclasses.fields(flags)}
    asked = {name: value for name, value in values.items() if value is not None}
    check_applies(asked, hierarchical=system.is_hierarchical)
    return dataclasses.replace(system.options, **asked)


def parse_pairs(pairs: Sequence[str] | None, what: str) -> dict[str, str]:
    """Parse NAME=VALUE arguments.

    >>> parse_pairs(["LM0=0.5"], "--weight")
    {'LM0': '0.5'}
    """
    values: dict[str, str] = {}
    for pair in pairs or []:
        name, separator, value = pair.partition("=")
        if not (name and separator and value):
            raise OptionError(f"{what} expects NAME=VALUE, not {pair!r}")
        if name in values:
            raise OptionError(f"{what} gives {name} twice, {values[name]!r} and {value!r}")
        values[name] = value
    return values


def parse_weights(pairs: Sequence[str] | None, what: str = "--weight") -> dict[str, float | list[float]]:
    """Parse weights by name.

    >>> parse_weights(["LM0=0.5", "LR=0.1,0.2"])
    {'LM0': [0.5], 'LR': [0.1, 0.2]}
    """
    weights: dict[str, float | list[float]] = {}
    for name, value in parse_pairs(pairs, what).items():
        try:
            weights[name] = [float(v) for v in value.split(",")]
        except ValueError as error:
            raise OptionError(f"{what} {name} must be a number, not {value!r}") from error
    return weights
