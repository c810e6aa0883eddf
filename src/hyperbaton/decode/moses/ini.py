"""Parse a moses.ini: its sections, feature lines and weights with their line numbers, and the supported sections.

Every section that Moses knows is in one of four groups. A section that is in none is an error, as it is for Moses.

    applied     its settings are applied
    neutral     changes translations; only the listed values, which switch it off, are accepted
    refused     changes translations, and is always refused
    harmless    does not change translations: what is printed, how fast, in which threads

Moses also accepts the short name of a parameter as a section, but only on its command line do short names have an effect.
Here both names are equivalent, and a warning lists the short ones that Moses ignores.

The groups are in `sections.toml`. Some sections have a different one for the chart decoder (`[search-algorithm]` 3).
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections import Counter
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines

_DECLARED = tomllib.loads(files(__package__).joinpath("sections.toml").read_text(encoding="utf-8"))
SHORT: dict[str, str] = _DECLARED["short"]  # short names, as on Moses' command line
_OFF = ["false", "f", "no", "n", "0"]
CHART = "3"  # the search algorithm of the chart decoder

OPERATIONS = "OpSequenceModel"
# Keys of sparse features in the line of a reordering table, except for the files of words and classes.
SPARSE_PARTS = ("sparse-phrase", "sparse-stack", "sparse-between")
# Options with a section in moses.ini, and others, which are kept in a comment.
SECTIONS = {
    "stack": "stack",
    "pop_limit": "cube-pruning-pop-limit",
    "threshold": "beam-threshold",
    "distortion_limit": "distortion-limit",
}
FLAGS = {
    "early_distortion": "early-distortion-cost",
    "drop_unknown": "drop-unknown",
    "monotone_at_punctuation": "monotone-at-punctuation",
}
COMMENTED = ("future_distortion", "max_words")
SEARCHES = {"0": "stack", "1": "cube"}
PHRASES_ALONE = ("distortion_limit", "early_distortion", "monotone_at_punctuation", "future_distortion")
CHART_SPAN = "max-chart-span"
WHOLE_SENTENCE = 1000  # the span of glue rules written by Moses' training
MAX_PHRASE_LENGTH = 20  # default if a moses.ini does not set it

# A comment for Moses; here, the options of a system that Moses does not have.
OWN_OPTIONS = "# hyperbaton: "
_VARIABLE = re.compile(r"\$\{([^{}]*+)\}")


class SectionGroups(NamedTuple):
    """The groups of sections for one of the decoders: accepted values of neutral ones, and the reasons for refusals."""

    applied: frozenset[str]
    neutral: dict[str, list[str]]
    refused: dict[str, str]
    harmless: frozenset[str]

    @classmethod
    def declared(cls, decoder: str) -> SectionGroups:
        """The groups in `sections.toml`."""
        table = _DECLARED[decoder]
        neutral = dict.fromkeys(table.get("off", "").split(), _OFF) | table["neutral"]
        refused = {name: why for why, names in table["refused"].items() for name in names.split()}
        harmless = frozenset(name for names in table["harmless"].values() for name in names.split())
        return cls(frozenset(table["applied"].split()), neutral, refused, harmless)

    def changed(self, other: SectionGroups) -> SectionGroups:
        """These groups with another decoder's groups of some sections."""
        listed = {*other.applied, *other.neutral, *other.refused}
        return SectionGroups(
            self.applied - other.harmless | other.applied,
            self.neutral | other.neutral,
            self.refused | other.refused,
            (self.harmless | other.harmless) - listed,
        )


OF_PHRASES = SectionGroups.declared("phrases")
_OF_CHART = OF_PHRASES.changed(SectionGroups.declared("chart"))


class Line(NamedTuple):
    """A line of a section, without comments."""

    number: int
    text: str


class IniSection(NamedTuple):
    """A section: the line of its heading, and the lines below."""

    number: int
    lines: list[Line]
    heading: str  # as written, in brackets


class Feature(NamedTuple):
    """A line of the section [feature]."""

    name: str
    kind: str
    values: dict[str, str]
    line: int


class Weights(NamedTuple):
    """A line of the section [weight]."""

    values: list[float]
    line: int


class MosesIni(NamedTuple):
    """The content of a moses.ini: sections, features and weights by name, and the line of hyperbaton's options."""

    path: Path
    sections: dict[str, IniSection]
    features: dict[str, Feature]
    weights: dict[str, Weights]
    own_options: Line | None

    @classmethod
    def read(cls, path: str | PathLike[str]) -> MosesIni:
        """Read a moses.ini, or the one in a folder; sections that cannot be applied are errors."""
        path = Path(path)
        path = path / "moses.ini" if path.is_dir() else path
        sections, own_options = _read_sections(path)
        if "feature" not in sections:
            raise InputError("there is no section [feature]; is this a moses.ini?", path)
        ini = cls(path, sections, {}, {}, own_options)
        ini.check_sections()
        features = _read_features(path, sections["feature"].lines)
        return ini._replace(
            features=features, weights=_read_weights(path, sections["weight"].lines if "weight" in sections else [])
        )

    @property
    def is_chart(self) -> bool:
        """Whether it is for Moses' chart decoder, which translates with rules."""
        section = self.sections.get("search-algorithm")
        return section is not None and [line.text for line in section.lines] == [CHART]

    @property
    def groups(self) -> SectionGroups:
        """The groups of sections for its decoder."""
        return _OF_CHART if self.is_chart else OF_PHRASES

    @property
    def ignored(self) -> list[str]:
        """The headings of sections that do not change translations."""
        harmless = self.groups.harmless
        return [section.heading for name, section in self.sections.items() if name in harmless]

    @property
    def shortened(self) -> list[str]:
        """The headings of sections that change translations here, but not in Moses, since they are short names."""
        applied = self.groups.applied
        return [
            f"{section.heading} as [{name}]"
            for name, section in self.sections.items()
            if name in applied and section.heading != f"[{name}]"
        ]

    def check_sections(self) -> None:
        """Raise InputError for a section that cannot be applied."""
        groups = self.groups
        for name, section in self.sections.items():
            if name in groups.refused:
                raise self.error(f"{section.heading} cannot be imported: {groups.refused[name]}", section.number)
            if name in groups.neutral:
                accepted = groups.neutral[name]
                # A flag without a value is on.
                for line in section.lines or [Line(section.number, "")]:
                    if not any(_same(line.text, value) for value in accepted):
                        expected = " or ".join(map(repr, accepted[:1] if accepted == _OFF else accepted))
                        found = repr(line.text) if line.text else "nothing"
                        what = f"{section.heading} cannot be imported unless its value is {expected}; found {found}"
                        raise self.error(what, line.number)
            elif name not in groups.applied and name not in groups.harmless:
                raise self.error(f"{section.heading} is not a section of Moses", section.number)

    def error(self, what: str, line: int | None) -> InputError:
        """An error in a line of the file."""
        return InputError(what, self.path, line)

    def value(self, section: str) -> Line | None:
        """The value of a section with a single value, None if there is no such section."""
        entry = self.sections.get(section)
        if entry is None:
            return None
        if len(entry.lines) != 1:
            at = entry.lines[1].number if entry.lines else entry.number
            raise self.error(f"[{section}] expects one value, found {len(entry.lines)}", at)
        return entry.lines[0]

    def flag(self, section: str) -> bool:
        """Whether a section exists and is not false."""
        entry = self.sections.get(section)
        if entry is None or not entry.lines:
            return entry is not None
        line = self.value(section)
        text = line.text.lower() if line else ""
        if text not in (*_OFF, "true", "t", "yes", "y", "1"):
            raise self.error(f"[{section}] expects true or false, found {text!r}", line and line.number)
        return text not in _OFF

    def file(self, feature: Feature) -> Path:
        """The file of a feature: in the folder of the moses.ini, in its parent, or in the current folder."""
        if "path" not in feature.values:
            raise self.error(f"{feature.kind} names no path", feature.line)
        return self.find(feature.values["path"], feature.line)

    def find(self, path: str, line: int) -> Path:
        """A file named in a line, searched for as in `file`."""

        def variable(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                raise self.error(f"the path {path} needs the environment variable {match[1]}, which is not set", line)
            return os.environ[match[1]]

        named = Path(_VARIABLE.sub(variable, path))
        for base in (self.path.parent, self.path.parent.parent, Path()):
            for name in (named, Path(f"{named}.gz")):
                if (base / name).is_file():
                    return base / name
        raise self.error(f"there is no file {named}", line)


def _read_sections(path: Path) -> tuple[dict[str, IniSection], Line | None]:
    sections: dict[str, IniSection] = {}
    own_options: Line | None = None
    current = ""
    for number, raw in enumerate(read_lines(path), start=1):
        if raw.startswith(OWN_OPTIONS):
            own_options = Line(number, raw.removeprefix(OWN_OPTIONS))
        text = raw.split("#")[0].strip()
        if text.startswith("[") and text.endswith("]"):
            heading = f"[{text[1:-1].strip()}]"
            current = SHORT.get(heading[1:-1], heading[1:-1])
            if current in sections:
                first = sections[current].number
                raise InputError(f"{heading} occurs twice, first in line {first}", path, number)
            sections[current] = IniSection(number, [], heading)
        elif text and not current:
            raise InputError("expected a section like [feature]", path, number)
        elif text:
            sections[current].lines.append(Line(number, text))
    return sections, own_options


def _same(text: str, value: str) -> bool:
    try:
        return float(text) == float(value)
    except ValueError:
        return " ".join(text.split()).lower() == value.lower()


def _read_features(path: Path, lines: list[Line]) -> dict[str, Feature]:
    counts: Counter[str] = Counter()
    features: dict[str, Feature] = {}
    for number, text in lines:
        kind, *pairs = text.split()
        values: dict[str, str] = {}
        for pair in pairs:
            key, separator, value = pair.partition("=")
            if not (key and separator):
                raise InputError(f"expected key=value after {kind}, found {pair!r}", path, number)
            if key in values:
                raise InputError(f"{kind} has {key}= twice", path, number)
            values[key] = value
        name = values.pop("name", f"{kind}{counts[kind]}")
        counts[kind] += 1
        if not name:
            raise InputError(f"{kind} has an empty name", path, number)
        if name in features:
            raise InputError(f"the feature {name} is already defined in line {features[name].line}", path, number)
        features[name] = Feature(name, kind, values, number)
    return features


def _read_weights(path: Path, lines: list[Line]) -> dict[str, Weights]:
    weights: dict[str, Weights] = {}
    for number, text in lines:
        name, separator, values_text = text.partition("=")
        name = name.strip()
        try:
            values = [float(value) for value in values_text.split()]
        except ValueError:
            values = []
        if not (name and separator and values):
            raise InputError(f"expected weights like 'LM0= 0.5', found {text!r}", path, number)
        if not all(math.isfinite(value) for value in values):
            raise InputError(f"the weights of {name} must be finite numbers, found {text!r}", path, number)
        if name in weights:
            raise InputError(f"the weights of {name} are already given in line {weights[name].line}", path, number)
        weights[name] = Weights(values, number)
    return weights
