"""Systems from and to Moses: a `moses.ini` with text tables and ARPA models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.progress import Progress
from hyperbaton.corpus.files import read_lines, write_files
from hyperbaton.corpus.text import gather
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.scorers import ReorderingTable
from hyperbaton.decode.system import DISTORTION, PHRASE_PENALTY, TRANSLATION, UNKNOWN_WORD, WORD_PENALTY, System
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import Phrases, ReorderingType
from hyperbaton.phrases.moses import phrase_table_pieces, read_phrase_table, read_reordering_table, reordering_table_pieces

_LMS = ("KENLM", "SRILM", "IRSTLM", "IRSTLM2", "RANDLM", "LazyKENLM")
_PLAIN = {
    "UnknownWordPenalty": UNKNOWN_WORD,
    "WordPenalty": WORD_PENALTY,
    "PhrasePenalty": PHRASE_PENALTY,
    "Distortion": DISTORTION,
}


class Feature(NamedTuple):
    """A line of the section [feature]."""

    kind: str
    values: dict[str, str]
    line: int


class MosesIni(NamedTuple):
    """What a moses.ini says: sections by name with their lines, features, weights by feature."""

    path: Path
    sections: dict[str, list[tuple[int, str]]]
    features: dict[str, Feature]
    weights: dict[str, list[float]]

    @classmethod
    def read(cls, path: str | PathLike[str]) -> MosesIni:
        """Read a moses.ini, or the one in a folder."""
        path = Path(path)
        path = path / "moses.ini" if path.is_dir() else path
        sections: dict[str, list[tuple[int, str]]] = {}
        current = ""
        for number, raw in enumerate(read_lines(path), start=1):
            line = raw.split("#")[0].strip()
            if line.startswith("[") and line.endswith("]"):
                current = line[1:-1]
                sections.setdefault(current, [])
            elif line and not current:
                raise InputError("expected a section like [feature]", path, number)
            elif line:
                sections[current].append((number, line))
        if "feature" not in sections:
            raise InputError("there is no section [feature]; is this a moses.ini?", path)
        counts: dict[str, int] = {}
        features = {}
        for number, line in sections["feature"]:
            kind, *pairs = line.split()
            values = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            count = counts.setdefault(kind, 0)
            counts[kind] += 1
            features[values.get("name", f"{kind}{count}")] = Feature(kind, values, number)
        weights = {}
        for number, line in sections.get("weight", []):
            name, separator, values_text = line.partition("=")
            try:
                weights[name.strip()] = [float(value) for value in values_text.split()]
            except ValueError:
                separator = ""
            if not separator:
                raise InputError(f"expected weights like 'LM0= 0.5', found {line!r}", path, number)
        return cls(path, sections, features, weights)

    def number(self, section: str, default: float) -> float:
        """The first value of a section, as a number."""
        lines = self.sections.get(section, [])
        if not lines:
            return default
        try:
            return float(lines[0][1])
        except ValueError as error:
            raise InputError(f"[{section}] expects a number, found {lines[0][1]!r}", self.path, lines[0][0]) from error

    def file(self, feature: Feature) -> Path:
        """The file of a feature: beside the moses.ini, one folder up, or from the current folder."""
        if "path" not in feature.values:
            raise InputError(f"{feature.kind} names no path", self.path, feature.line)
        named = Path(feature.values["path"])
        for base in (self.path.parent, self.path.parent.parent, Path()):
            for name in (named, Path(f"{named}.gz")):
                if (base / name).is_file():
                    return base / name
        raise InputError(f"there is no file {named}", self.path, feature.line)


def import_moses(path: str | PathLike[str]) -> System:
    """Build a system from a moses.ini (or the folder it is in) with text tables and ARPA language models."""
    ini = MosesIni.read(path)
    tables = [f for f in ini.features.values() if f.kind.startswith("PhraseDictionary")]
    if len(tables) != 1:
        raise InputError(f"expected one phrase table, found {len(tables)}", ini.path)
    table = read_phrase_table(ini.file(tables[0]))
    wanted = int(tables[0].values.get("num-features", str(table.scores.shape[1])))
    if len(table) and table.scores.shape[1] != wanted:
        raise InputError(
            f"num-features={wanted}, but {ini.file(tables[0])} has {table.scores.shape[1]} scores in a row",
            ini.path,
            tables[0].line,
        )
    lms: dict[str, LanguageModel] = {}
    reordering: dict[str, ReorderingTable] = {}
    renamed: dict[str, str] = {}
    for name, feature in ini.features.items():
        if feature in tables:
            renamed[name] = TRANSLATION
        elif feature.kind in _LMS:
            lms[name] = LanguageModel.read_arpa(ini.file(feature))
        elif feature.kind == "LexicalReordering":
            parts = feature.values.get("type", "").split("-")
            kind = ReorderingType.parse("-".join(p for p in parts if p not in ("allff", "collapseff")))
            probabilities = read_reordering_table(ini.file(feature), kind, table)
            reordering[name] = ReorderingTable(kind, probabilities, "collapseff" in parts)
        elif feature.kind in _PLAIN:
            renamed[name] = _PLAIN[feature.kind]
        else:
            known = ", ".join([*_PLAIN, "PhraseDictionary…", "LexicalReordering", *_LMS])
            raise InputError(f"unknown feature {feature.kind}; known: {known}", ini.path, feature.line)
    absent = {ours: 0.0 for kind, ours in _PLAIN.items() if all(f.kind != kind for f in ini.features.values())}
    for name in ini.weights:
        if name not in ini.features:
            raise InputError(f"there is a weight for {name}, but no such feature", ini.path)
    given = {renamed.get(name, name): values for name, values in ini.weights.items()}
    system = System.of(table, lms, reordering, {**absent, **given}, _decoding(ini, tables[0]))
    missing = [n for n in ini.features if n not in ini.weights and renamed.get(n) != UNKNOWN_WORD]
    if missing:
        raise InputError(f"there is no weight for {', '.join(missing)}", ini.path)
    return system


def _decoding(ini: MosesIni, table: Feature) -> Decoding:
    return Decoding(
        search="cube" if ini.number("search-algorithm", 0) == 1 else "stack",
        stack=int(ini.number("stack", 200)),
        pop_limit=int(ini.number("cube-pruning-pop-limit", 1000)),
        threshold=ini.number("beam-threshold", 1e-5),
        distortion_limit=int(ini.number("distortion-limit", 6)),
        table_limit=int(table.values.get("table-limit", 20)),
        early_distortion=_flag(ini, "early-distortion-cost"),
        future_distortion=False,  # Moses does not
        drop_unknown="drop-unknown" in ini.sections,
        monotone_at_punctuation="monotone-at-punctuation" in ini.sections,
    )


def _flag(ini: MosesIni, section: str) -> bool:
    return section in ini.sections


def _reordering_rows(system: System, model: ReorderingTable, progress: Progress | None) -> Iterator[bytes]:
    """The rows of a reordering table, without those that it has not."""
    table, probabilities = system.table, model.probabilities
    known = ~np.isnan(probabilities[:, 0])
    if model.kind.conditioning == "fe":
        return reordering_table_pieces(table.select(known), probabilities[known], "fe", progress)
    where, offsets = gather(table.source.offsets, np.flatnonzero(known))
    source = Phrases(offsets, table.source.words[where], table.source.vocabulary)
    return reordering_table_pieces(replace(table, source=source), probabilities[known], "f", progress)


def export_moses(system: System, folder: str | PathLike[str], progress: Progress | None = None) -> Path:
    """Write a system as Moses reads it: moses.ini, text tables, ARPA models; returns the moses.ini.

    Reordering models that Moses does not have are an error.
    """
    folder = Path(folder)
    foreign = [name for name, model in system.reordering.items() if not isinstance(model, ReorderingTable)]
    if foreign:
        raise OptionError(
            f"Moses has no reordering model like {', '.join(foreign)}: only lexicalized tables can be exported"
        )
    features: list[str] = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty"]
    files = {str(folder / "phrase-table.gz"): phrase_table_pieces(system.table, progress)}
    features.append(
        f"PhraseDictionaryMemory name={TRANSLATION} num-features={system.table.scores.shape[1]} path=phrase-table.gz "
        f"input-factor=0 output-factor=0 table-limit={system.options.table_limit}"
    )
    for name, model in system.reordering.items():
        if isinstance(model, ReorderingTable):
            file = f"reordering-table.{name}.{model.kind.name}.gz"
            kind = f"{model.kind.name}-{'collapseff' if model.collapse else 'allff'}"
            files[str(folder / file)] = _reordering_rows(system, model, progress)
            features.append(
                f"LexicalReordering name={name} num-features={model.n_features} "
                f"type={kind} input-factor=0 output-factor=0 path={file}"
            )
    features.append("Distortion")
    for name, lm in system.lms.items():
        files[str(folder / f"{name}.arpa.gz")] = lm.arpa_pieces()
        features.append(f"KENLM name={name} factor=0 path={name}.arpa.gz order={lm.order}")
    options = system.options
    sections: dict[str, Any] = {
        "input-factors": 0,
        "mapping": "0 T 0",
        "distortion-limit": options.distortion_limit,
        "search-algorithm": 1 if options.search == "cube" else 0,
        "stack": options.stack,
        "cube-pruning-pop-limit": options.pop_limit,
        "beam-threshold": f"{options.threshold:g}",
        "feature": "\n".join(features),
        "weight": "\n".join(f"{name}= {' '.join(f'{w:.9g}' for w in ws)}" for name, ws in system.weights.items()),
    }
    for name, wanted in (
        ("early-distortion-cost", options.early_distortion),
        ("drop-unknown", options.drop_unknown),
        ("monotone-at-punctuation", options.monotone_at_punctuation),
    ):
        if wanted:
            sections[name] = "true"
    ini = folder / "moses.ini"
    files[str(ini)] = (f"[{name}]\n{value}\n\n".encode() for name, value in sections.items())
    write_files(files)
    return ini
