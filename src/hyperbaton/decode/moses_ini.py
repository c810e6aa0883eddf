"""Parse a moses.ini: its sections, feature lines and weights with their line numbers, and the supported sections.

Every section that Moses knows is in one of four groups. A section that is in none is an error, as it is for Moses.

    APPLIED     its settings are applied
    NEUTRAL     changes translations; only the listed values, which switch it off, are accepted
    REFUSED     changes translations, and is always refused
    HARMLESS    does not change translations: what is printed, how fast, in which threads

Moses also accepts the short name of a parameter as a section, but only on its command line do short names have an effect.
Here both names are equivalent, and a warning lists the short ones that Moses ignores.

Some sections have a different meaning for the chart decoder (`[search-algorithm]` 3): CHART has their groups there.
"""

from __future__ import annotations

import math
import os
import re
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from hyperbaton.base.errors import InputError
from hyperbaton.corpus.files import read_lines

APPLIED = (
    "feature",
    "weight",
    "weight-file",
    "distortion-limit",
    "early-distortion-cost",
    "search-algorithm",
    "stack",
    "cube-pruning-pop-limit",
    "beam-threshold",
    "max-phrase-length",
    "drop-unknown",
    "monotone-at-punctuation",
    "xml-input",
)

_OFF = ("false", "f", "no", "n", "0")
NEUTRAL: dict[str, tuple[str, ...]] = {
    "input-factors": ("0",),
    "output-factors": ("0",),
    "mapping": ("0 T 0", "T 0"),
    "inputtype": ("0",),
    "factor-delimiter": ("|",),
    "xml-brackets": ("< >",),
    "stack-diversity": ("0",),
    "cube-pruning-diversity": ("0",),
    "cube-pruning-lazy-scoring": _OFF,
    "cube-pruning-deterministic-search": _OFF,
    "early-discarding-threshold": ("0",),
    "translation-option-threshold": ("0",),
    "disable-discarding": _OFF,
    "decoding-graph-backoff": ("0",),
    "phrase-drop-allowed": _OFF,
    "mark-unknown": _OFF,
    "always-create-direct-transopt": _OFF,
    "lmodel-oov-feature": _OFF,
    "minimum-bayes-risk": _OFF,
    "lminimum-bayes-risk": _OFF,
    "consensus-decoding": _OFF,
    "mira": _OFF,
    "time-out": ("0", "-1"),
    "segment-time-out": ("0", "-1"),
}


def _names(text: str) -> list[str]:
    return text.split()


_OLD = "the format of Moses before version 1 is not read; write its models as lines of [feature] and [weight]"
_OVERRIDE = "change the lines of [feature] and [weight] instead"
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        _names(
            "distortion distortion-file dlm-model generation-file global-lexical-file glm-feature input-scores lmodel-dub "
            "lmodel-file phrase-boundary-source-feature phrase-boundary-target-feature phrase-length-feature "
            "phrase-pair-feature slmodel-beam slmodel-factor slmodel-file source-word-deletion-feature "
            "target-word-insertion-feature text-type translation-systems ttable-file ttable-limit weight-bl weight-d "
            "weight-dlm weight-e weight-generation weight-glm weight-i weight-l weight-lex weight-lr weight-p weight-pb "
            "weight-pp weight-slm weight-t weight-u weight-w weight-wt word-translation-feature"
        ),
        _OLD,
    ),
    **dict.fromkeys(_names("feature-add feature-name-overwrite feature-overwrite weight-add weight-overwrite"), _OVERRIDE),
    "alternate-weight-setting": "a system has one set of weights",
    "constraint": "use 'hyperbaton diagnose' to force references",
    "continue-partial-translation": "translations are not continued",
    "max-trans-opt-per-coverage": "use table-limit= in the line of the phrase table",
    "max-partial-trans-opt": "use table-limit= in the line of the phrase table",
    "placeholder-factor": "factors are not supported",
    "spe-aln": "simulated post-editing is not supported",
    "spe-src": "simulated post-editing is not supported",
    "spe-trg": "simulated post-editing is not supported",
}

HARMLESS = frozenset(
    _names(
        # Options of the output.
        "alignment-output-file description distinct-nbest include-lhs-in-search-graph include-segmentation-in-n-best "
        "labeled-n-best-list lattice-samples n-best-factor n-best-list n-best-trees output-hypo-score output-search-graph "
        "output-search-graph-extended output-search-graph-hypergraph output-search-graph-pb output-search-graph-slf "
        "output-unknowns output-word-graph print-alignment-info print-alignment-info-in-n-best print-all-derivations "
        "print-id print-passthrough print-passthrough-in-n-best recover-input-path report-all-factors "
        "report-all-factors-in-n-best report-segmentation report-segmentation-enriched report-sparse-features show-weights "
        "sort-word-alignment start-translation-id translation-all-details translation-details tree-translation-details "
        "unpruned-search-graph verbose "
        # Where input comes from, and how fast it is translated.
        "cache-path clean-lm-cache config input-file minlexr-memory minphr-memory no-cache persistent-cache-size "
        "references threads use-persistent-cache server server-keepalive-maxconn server-keepalive-timeout server-log "
        "server-maxconn server-maxconn-backlog server-port server-timeout session-cache-size session-timeout serial "
        "cpu-affinity-offset cpu-affinity-increment "
        # Details of what is switched off or refused elsewhere: minimum Bayes risk, lattices, charts, context, marks.
        "context-string context-weights context-window default-non-term-for-empty-range-only lattice-hypo-set "
        "link-param-count lmbr-map-weight lmbr-p lmbr-pruning-factor lmbr-r lmbr-thetas max-chart-span mbr-scale mbr-size "
        "non-terminals parsing-algorithm rule-limit s2t-parsing-algorithm source-label-overlap unknown-lhs "
        "unknown-word-prefix unknown-word-suffix"
    )
)

# Short names, as on Moses' command line.
SHORT: dict[str, str] = {
    short: name
    for short, _, name in (
        pair.partition("=")
        for pair in _names(
            "b=beam-threshold s=stack sd=stack-diversity dl=distortion-limit mp=monotone-at-punctuation "
            "edc=early-distortion-cost edt=early-discarding-threshold tot=translation-option-threshold "
            "cbp=cube-pruning-pop-limit cbd=cube-pruning-diversity cbls=cube-pruning-lazy-scoring "
            "cbds=cube-pruning-deterministic-search dd=disable-discarding du=drop-unknown mu=mark-unknown "
            "da=phrase-drop-allowed dpb=decoding-graph-backoff cpt=continue-partial-translation fd=factor-delimiter "
            "xi=xml-input xb=xml-brackets mbr=minimum-bayes-risk lmbr=lminimum-bayes-risk con=consensus-decoding "
            "aws=alternate-weight-setting wf=weight-file "
            "v=verbose f=config i=input-file th=threads t=report-segmentation tt=report-segmentation-enriched "
            "T=translation-details Ttree=tree-translation-details Tall=translation-all-details r=recover-input-path "
            "owg=output-word-graph osg=output-search-graph osgx=output-search-graph-extended slf=output-search-graph-slf "
            "usg=unpruned-search-graph lhssg=include-lhs-in-search-graph "
            "ttl=ttable-limit gl=global-lexical-file slm=weight-slm bl=weight-bl d=weight-d dlm=weight-dlm lr=weight-lr "
            "g=weight-generation I=weight-i lm=weight-l lex=weight-lex glm=weight-glm wt=weight-wt pp=weight-pp "
            "pb=weight-pb tm=weight-t w=weight-w u=weight-u e=weight-e"
        )
    )
}

# Sections of the chart decoder: applied, ignored, or refused unless they have these values.
CHART = "3"
CHART_APPLIED = ("max-chart-span",)
CHART_HARMLESS = frozenset(_names("distortion-limit early-distortion-cost max-phrase-length"))
CHART_NEUTRAL: dict[str, tuple[str, ...]] = {
    "inputtype": ("0", "3"),
    "mapping": ("0 T 0", "1 T 1"),
    "non-terminals": ("X",),
    "rule-limit": ("5000",),
    "source-label-overlap": ("0",),
    "default-non-term-for-empty-range-only": ("true",),
}
CHART_REFUSED = {
    "unknown-lhs": "unknown words have the label X",
    "monotone-at-punctuation": "Moses' chart decoder does not have it",
}

# A comment for Moses; here, the options of a system that Moses does not have.
OWN_OPTIONS = "# hyperbaton: "
_VARIABLE = re.compile(r"\$\{([^{}]*+)\}")


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
        _check_sections(path, sections)
        features = _read_features(path, sections["feature"].lines)
        weights = _read_weights(path, sections["weight"].lines if "weight" in sections else [])
        return cls(path, sections, features, weights, own_options)

    @property
    def ignored(self) -> list[str]:
        """The headings of sections that do not change translations."""
        groups = _Groups.of(self.sections)
        return [section.heading for name, section in self.sections.items() if name in groups.harmless]

    @property
    def is_chart(self) -> bool:
        """Whether it is for Moses' chart decoder, which translates with rules."""
        return _is_chart(self.sections)

    @property
    def shortened(self) -> list[str]:
        """The headings of sections that change translations here, but not in Moses, since they are short names."""
        groups = _Groups.of(self.sections)
        return [
            f"{section.heading} as [{name}]"
            for name, section in self.sections.items()
            if name in groups.applied and section.heading != f"[{name}]"
        ]

    def value(self, section: str) -> Line | None:
        """The value of a section with a single value, None if there is no such section."""
        entry = self.sections.get(section)
        if entry is None:
            return None
        if len(entry.lines) != 1:
            at = entry.lines[1].number if entry.lines else entry.number
            raise InputError(f"[{section}] expects one value, found {len(entry.lines)}", self.path, at)
        return entry.lines[0]

    def flag(self, section: str) -> bool:
        """Whether a section exists and is not false."""
        entry = self.sections.get(section)
        if entry is None or not entry.lines:
            return entry is not None
        line = self.value(section)
        text = line.text.lower() if line else ""
        if text not in (*_OFF, "true", "t", "yes", "y", "1"):
            raise InputError(f"[{section}] expects true or false, found {text!r}", self.path, line and line.number)
        return text not in _OFF

    def file(self, feature: Feature) -> Path:
        """The file of a feature: in the folder of the moses.ini, in its parent, or in the current folder."""
        if "path" not in feature.values:
            raise InputError(f"{feature.kind} names no path", self.path, feature.line)
        return self.find(feature.values["path"], feature.line)

    def find(self, path: str, line: int) -> Path:
        """A file named in a line, searched for as in `file`."""

        def variable(match: re.Match[str]) -> str:
            if match[1] not in os.environ:
                message = f"the path {path} needs the environment variable {match[1]}, which is not set"
                raise InputError(message, self.path, line)
            return os.environ[match[1]]

        named = Path(_VARIABLE.sub(variable, path))
        for base in (self.path.parent, self.path.parent.parent, Path()):
            for name in (named, Path(f"{named}.gz")):
                if (base / name).is_file():
                    return base / name
        raise InputError(f"there is no file {named}", self.path, line)


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


class _Groups(NamedTuple):
    """The groups of sections for one of the decoders."""

    applied: frozenset[str]
    neutral: dict[str, tuple[str, ...]]
    refused: dict[str, str]
    harmless: frozenset[str]

    @classmethod
    def of(cls, sections: dict[str, IniSection]) -> _Groups:
        """The groups for the decoder selected by the sections."""
        if not _is_chart(sections):
            return cls(frozenset(APPLIED), NEUTRAL, REFUSED, HARMLESS)
        own = {*CHART_APPLIED, *CHART_NEUTRAL, *CHART_REFUSED}
        return cls(
            frozenset(APPLIED) - CHART_HARMLESS | {*CHART_APPLIED},
            NEUTRAL | CHART_NEUTRAL,
            REFUSED | CHART_REFUSED,
            (HARMLESS | CHART_HARMLESS) - own,
        )


def _is_chart(sections: dict[str, IniSection]) -> bool:
    section = sections.get("search-algorithm")
    return section is not None and [line.text for line in section.lines] == [CHART]


def _check_sections(path: Path, sections: dict[str, IniSection]) -> None:
    groups = _Groups.of(sections)
    for name, section in sections.items():
        if name in groups.refused:
            raise InputError(f"{section.heading} cannot be imported: {groups.refused[name]}", path, section.number)
        if name in groups.neutral:
            accepted = groups.neutral[name]
            # A flag without a value is on.
            for line in section.lines or [Line(section.number, "")]:
                if not any(_same(line.text, value) for value in accepted):
                    values = accepted[:1] if accepted is _OFF else accepted
                    expected = " or ".join(map(repr, values))
                    content = repr(line.text) if line.text else "nothing"
                    message = f"{section.heading} cannot be imported unless its value is {expected}; found {content}"
                    raise InputError(message, path, line.number)
        elif name not in groups.applied and name not in groups.harmless:
            raise InputError(f"{section.heading} is not a section of Moses", path, section.number)


def _same(text: str, value: str) -> bool:
    try:
        return float(text) == float(value)
    except ValueError:
        return " ".join(text.split()).lower() == value.lower()


def _read_features(path: Path, lines: list[Line]) -> dict[str, Feature]:
    counts: dict[str, int] = {}
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
        count = counts.setdefault(kind, 0)
        counts[kind] += 1
        name = values.pop("name", f"{kind}{count}")
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
