"""Import of Moses systems: a `moses.ini` with text tables and ARPA models.

A system with rules is for Moses' chart decoder, `[search-algorithm]` 3: its first table contains the rules, the second is
the glue grammar.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import NAMES
from hyperbaton.base.options import Arguments, Option, options_of, parse_settings
from hyperbaton.corpus.files import read_lines
from hyperbaton.decode.moses.ini import (
    CHART,
    CHART_SPAN,
    COMMENTED,
    FLAGS,
    MAX_PHRASE_LENGTH,
    OPERATIONS,
    PHRASES_ALONE,
    SEARCHES,
    SECTIONS,
    SPARSE_PARTS,
    WHOLE_SENTENCE,
    Feature,
    Line,
    MosesIni,
)
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.reordering import Reordering
from hyperbaton.decode.scorers import ModelUse, ReorderingTable
from hyperbaton.decode.sparse import Labels, SparseReordering, read_weights
from hyperbaton.decode.system import DISTORTION, GLUE, PHRASE_PENALTY, TRANSLATION, UNKNOWN_WORD, WORD_PENALTY, System
from hyperbaton.lm import LanguageModel
from hyperbaton.models.osm import OperationSequence
from hyperbaton.phrases import PhraseTable, ReorderingType, RuleTable
from hyperbaton.phrases.moses import read_phrase_table, read_reordering_table
from hyperbaton.phrases.rules import read_glue, read_rules

log = logging.getLogger(__name__)

_TABLE = "PhraseDictionary"
_REORDERING = "LexicalReordering"
_LMS = ("KENLM", "SRILM", "IRSTLM", "IRSTLM2", "RANDLM", "LazyKENLM")
_PLAIN = {
    "UnknownWordPenalty": UNKNOWN_WORD,
    "WordPenalty": WORD_PENALTY,
    "PhrasePenalty": PHRASE_PENALTY,
    "Distortion": DISTORTION,
}
# Keys allowed in a feature's line and their values, by kind; None if any value is allowed.
_ANY = {"tuneable": None, "num-features": None}
_FACTORS = {"input-factor": "0", "output-factor": "0"}
_SPARSE = "sparse"  # appended to the table's name to name its model of sparse features
_KEYS: dict[str, dict[str, str | None]] = {
    _TABLE: {"path": None, "table-limit": None, "cache-size": None, "num-input-features": "0", **_FACTORS, **_ANY},
    _REORDERING: {"path": None, "type": None, **_FACTORS, **_ANY},
    OPERATIONS: {"path": None, "support-features": None, **_FACTORS, **_ANY},
    **{kind: {"path": None, "order": None, "factor": "0", "lazyken": None, "load": None, **_ANY} for kind in _LMS},
    **{kind: {**_ANY} for kind in _PLAIN},
}
_MARKUP = {"pass-through": False, "exclusive": True}


def import_moses(path: str | PathLike[str]) -> System:
    """Build a system from a moses.ini (or its folder) with text tables and ARPA language models.

    Everything that changes translations is applied or refused; a warning names the sections that do not.
    """
    ini = MosesIni.read(path)
    for feature in ini.features.values():
        _check_feature(ini, feature)
    tables = [f for f in ini.features.values() if f.kind.startswith(_TABLE)]
    expected = "a rule table and a glue grammar" if ini.is_chart else "one phrase table"
    n_expected = 2 if ini.is_chart else 1
    if len(tables) != n_expected:
        line = tables[min(n_expected, len(tables) - 1)].line if tables else ini.sections["feature"].number
        n_lines = counted(len(tables), "line of PhraseDictionary…", "lines of PhraseDictionary…")
        raise ini.error(f"expected {expected}, found {n_lines}", line)
    options = _decoding(ini, tables[0])
    table = _read_rules(ini, *tables) if ini.is_chart else _read_table(ini, tables[0])
    lms: dict[str, LanguageModel] = {}
    reordering: dict[str, Reordering] = {}
    ours: dict[str, str] = {}  # the system's name of each feature
    of_tables = dict(zip((table.name for table in tables), (TRANSLATION, GLUE), strict=False))
    for name, feature in ini.features.items():
        our_name = of_tables.get(name) or _PLAIN.get(feature.kind, name)
        if our_name in ours.values():
            raise ini.error(f"there is another feature {our_name}", feature.line)
        ours[name] = our_name
        if feature.kind in _LMS:
            lms[name] = _read_lm(ini, feature)
        elif feature.kind in (_REORDERING, OPERATIONS, "Distortion") and isinstance(table, RuleTable):
            raise ini.error(f"{feature.kind} scores phrases; a system with rules cannot have it", feature.line)
        elif feature.kind == OPERATIONS:
            reordering[name] = _read_operations(ini, feature)
        elif feature.kind == _REORDERING and isinstance(table, PhraseTable):
            reordering[name] = model = _read_reordering(ini, feature, table)
            if (sparse := _read_sparse(ini, feature, model)) is not None:
                reordering[f"{name}.{_SPARSE}"] = sparse
    kinds = {feature.kind for feature in ini.features.values()} | ({"Distortion"} if ini.is_chart else set())
    absent = {name: 0.0 for kind, name in _PLAIN.items() if kind not in kinds}
    system = System.of(table, lms, reordering, absent, options)
    system = system.with_weights(_sparse_weights(ini, system))
    for name, weights in ini.weights.items():
        if name not in ini.features:
            raise ini.error(f"there is a weight for {name}, but no such feature", weights.line)
        n_weights = system.features[ours[name]]
        if len(weights.values) != n_weights:
            raise ini.error(f"{name} needs {n_weights} weights, found {len(weights.values)}", weights.line)
    for name, feature in ini.features.items():
        if name not in ini.weights and ours[name] != UNKNOWN_WORD:
            raise ini.error(f"there is no weight for {name}", feature.line)
    if ini.ignored:
        log.warning("%s: ignored, since translations do not depend on it: %s", ini.path, ", ".join(ini.ignored))
    if ini.shortened:
        log.warning("%s: read %s; Moses ignores short names in this file", ini.path, ", ".join(ini.shortened))
    return system.with_weights({ours[name]: weights.values for name, weights in ini.weights.items()})


def _check_feature(ini: MosesIni, feature: Feature) -> None:
    """Refuse unknown kinds of features and unknown keys in their lines."""
    allowed = _KEYS.get(_TABLE if feature.kind.startswith(_TABLE) else feature.kind)
    if allowed is None:
        kinds = ", ".join([*_PLAIN, f"{_TABLE}…", _REORDERING, OPERATIONS, *_LMS])
        raise ini.error(f"unknown feature {feature.kind}; known: {kinds}", feature.line)
    for key, value in feature.values.items():
        if feature.kind == _REORDERING and key.startswith("sparse-"):
            continue
        if key not in allowed:
            raise ini.error(f"{feature.kind} with {key}= cannot be imported", feature.line)
        if allowed[key] not in (None, value):
            message = f"{feature.kind} with {key}={value} cannot be imported, only {key}={allowed[key]}"
            raise ini.error(message, feature.line)


def _natural(ini: MosesIni, feature: Feature, key: str) -> int | None:
    """An integer in a feature's line."""
    text = feature.values.get(key)
    if text is not None and not (text.isascii() and text.isdigit()):
        raise ini.error(f"{key} must be a whole number, found {text!r}", feature.line)
    return None if text is None else int(text)


def _check_n_features(ini: MosesIni, feature: Feature, n: int, what: str) -> None:
    wanted = _natural(ini, feature, "num-features")
    if wanted not in (None, n):
        raise ini.error(f"num-features={wanted}, but {what} {n}", feature.line)


def _read_table(ini: MosesIni, feature: Feature) -> PhraseTable:
    file = ini.file(feature)
    table = read_phrase_table(file)
    if len(table):
        _check_n_features(ini, feature, table.scores.shape[1], f"the scores in a row of {file} are")
    longest = MAX_PHRASE_LENGTH
    if (line := ini.value("max-phrase-length")) is not None:
        if not (line.text.isascii() and line.text.isdigit() and int(line.text)):
            raise ini.error(f"[max-phrase-length] expects a whole number of at least 1, found {line.text!r}", line.number)
        longest = int(line.text)
    keep = table.source.lengths[table.sources] <= longest
    return table if keep.all() else table.select(keep)


def _read_rules(ini: MosesIni, rules: Feature, glue: Feature) -> RuleTable:
    """Read the rules of a rule table, and check the glue grammar, which is built in."""
    if "table-limit" in glue.values:
        raise ini.error("a glue grammar has no table-limit", glue.line)
    file = ini.file(rules)
    table = read_rules(file)
    if len(table):
        _check_n_features(ini, rules, table.table.scores.shape[1], f"the scores in a row of {file} are")
    _check_n_features(ini, glue, 1, "the scores of a glue grammar are")
    read_glue(ini.file(glue))
    return table


def _chart_span(ini: MosesIni, opt: Option) -> Arguments:
    """The longest span of a rule. Glue rules must be able to span whole sentences."""
    section = ini.sections.get(CHART_SPAN)
    lines = section.lines if section is not None else []
    if len(lines) != 2:
        at = lines[-1].number if lines else section.number if section is not None else None
        raise ini.error(f"[{CHART_SPAN}] expects two values, of rules and of the glue grammar, found {len(lines)}", at)
    span, whole = (_number(ini, f"[{CHART_SPAN}]", opt, line) for line in lines)
    if 0 < whole < WHOLE_SENTENCE:
        message = f"[{CHART_SPAN}] of the glue grammar must be {WHOLE_SENTENCE} or more, found {lines[1].text}"
        raise ini.error(message, lines[1].number)
    return {opt.name: span}


def _read_reordering(ini: MosesIni, feature: Feature, table: PhraseTable) -> ReorderingTable:
    parts = feature.values.get("type", "").split("-")
    try:
        kind = ReorderingType.parse("-".join(p for p in parts if p not in ("allff", "collapseff")))
    except OptionError as error:
        raise ini.error(str(error), feature.line) from error
    probabilities = read_reordering_table(ini.file(feature), kind, table)
    model = ReorderingTable(kind, probabilities, "collapseff" in parts)
    _check_n_features(ini, feature, model.n_features, f"the features of type={feature.values['type']} are")
    return model


def _read_sparse(ini: MosesIni, feature: Feature, model: ReorderingTable) -> SparseReordering | None:
    """The sparse features of a reordering table's line."""
    keys = [key for key in feature.values if key.startswith("sparse-")]
    if not keys:
        return None
    labels: list[Labels] = []
    for key in keys:
        if key in SPARSE_PARTS:
            continue
        _, kind, *rest = key.split("-", 3)
        if kind not in ("words", "clusters") or len(rest) != 2 or rest[0] not in ("source", "target"):
            raise ini.error(f"{feature.kind} with {key}= cannot be imported", feature.line)
        file = ini.find(feature.values[key], feature.line)
        lines = [line.rstrip("\n") for line in read_lines(file)]
        if kind == "words":
            labels.append(Labels.of_words(rest[0], rest[1], lines))
            continue
        clusters = {}
        for number, line in enumerate(lines, start=1):
            word, tab, label = line.partition("\t")
            if not (word and tab and label):
                raise InputError(f"expected a word, a tab and its class, found {line!r}", file, number)
            clusters[word] = label
        labels.append(Labels.of_clusters(rest[0], rest[1], clusters))
    missing = [part for part in SPARSE_PARTS if part not in keys]
    if missing:
        message = f"{feature.kind} with sparse features but without {', '.join(missing)} cannot be imported"
        raise ini.error(message, feature.line)
    if model.kind.direction != "bidirectional":
        raise ini.error("sparse features can be imported only with a bidirectional table", feature.line)
    return SparseReordering(model.set_name, tuple(labels))


def _sparse_weights(ini: MosesIni, system: System) -> dict[str, list[float]]:
    """The weights of sparse features from [weight-file]."""
    line = ini.value("weight-file")
    if line is None:
        return {}
    file = ini.find(line.text, line.number)
    prefixes = tuple(f"{name.removesuffix(f'.{_SPARSE}')}_" for name in system.sparse)
    for number, text in enumerate(read_lines(file), start=1):
        if text.strip() and not text.startswith(prefixes):
            raise InputError(f"no feature of {ini.path} has the sparse weight {text.strip()!r}", file, number)
    return {name: read_weights(file, name.removesuffix(f".{_SPARSE}"), model) for name, model in system.sparse.items()}


def _read_operations(ini: MosesIni, feature: Feature) -> ModelUse:
    # Moses treats anything but "no" as yes.
    supporting = feature.values.get("support-features") != "no"
    file = ini.file(feature)
    try:
        model = OperationSequence.of_language_model(LanguageModel.read_arpa(file), supporting=supporting)
    except OptionError as error:
        raise ini.error(f"{file}: {error}", feature.line) from error
    _check_n_features(ini, feature, model.n_values, "the features of an operation sequence model are")
    return ModelUse(model)


def _read_lm(ini: MosesIni, feature: Feature) -> LanguageModel:
    _check_n_features(ini, feature, 1, "the features of a language model are")
    lm = LanguageModel.read_arpa(ini.file(feature))
    order = _natural(ini, feature, "order")
    # KenLM always uses the whole model.
    if feature.kind not in ("KENLM", "LazyKENLM") and order is not None and order < lm.order:
        message = f"{feature.kind} with order={order} cannot be imported: the model is of order {lm.order}"
        raise ini.error(message, feature.line)
    return lm


def _decoding(ini: MosesIni, table: Feature) -> Decoding:
    """The options of the search; those that are not given have Moses' defaults."""
    declared = {opt.name: opt for opt in options_of(Decoding)}
    defaults = Decoding(
        search="stack",
        stack=200,
        pop_limit=1000,
        threshold=1e-5,
        distortion_limit=-1,
        table_limit=20,
        future_distortion=False,
    )
    values: Arguments = {}
    unused = PHRASES_ALONE if ini.is_chart else ()
    for name, section in SECTIONS.items():
        if name not in unused and (line := ini.value(section)) is not None:
            values[name] = _number(ini, f"[{section}]", declared[name], line)
    if (limit := table.values.get("table-limit")) is not None:
        values["table_limit"] = _number(ini, "table-limit", declared["table_limit"], Line(table.line, limit))
    values |= {name: ini.flag(section) for name, section in FLAGS.items() if name not in unused}
    if ini.is_chart:
        values |= _chart_span(ini, declared["max_span"])
    else:
        values |= _choice(ini, "search-algorithm", "search", {**SEARCHES, CHART: ""})  # not available here
    values |= _choice(ini, "xml-input", "markup", _MARKUP)
    if (comment := ini.own_options) is not None:
        try:
            settings = parse_settings(Decoding, comment.text.split())
        except OptionError as error:
            raise ini.error(str(error), comment.number) from error
        values |= {name: getattr(settings, name) for name in COMMENTED if f"{declared[name].flag}=" in comment.text}
    return replace(defaults, **values)


def _number(ini: MosesIni, what: str, opt: Option, line: Line) -> int | float:
    try:
        value: int | float = opt.check(opt.type(line.text))
        return value
    except ValueError as error:
        raise ini.error(f"{what} expects {NAMES[opt.type]}, found {line.text!r}", line.number) from error
    except OptionError as error:
        raise ini.error(f"{what}: {error}", line.number) from error


def _choice(ini: MosesIni, section: str, name: str, choices: Mapping[str, object]) -> Arguments:
    line = ini.value(section)
    if line is None:
        return {}
    if line.text not in choices:
        expected = f"unless its value is {' or '.join(choices)}; found {line.text!r}"
        raise ini.error(f"[{section}] cannot be imported {expected}", line.number)
    return {name: choices[line.text]}
