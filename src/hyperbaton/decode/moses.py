"""Import and export of Moses systems: a `moses.ini` with text tables and ARPA models.

A system with rules is for Moses' chart decoder, `[search-algorithm]` 3: its first table contains the rules, the second is
the glue grammar.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.options import Arguments, Option, options_of, parse_settings, to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.corpus.files import read_lines, write_files
from hyperbaton.decode.moses_ini import CHART, OWN_OPTIONS, Feature, MosesIni
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.scorers import ModelUse, Reordering, ReorderingTable
from hyperbaton.decode.sparse import Labels, SparseReordering, read_weights, weight_lines
from hyperbaton.decode.system import DISTORTION, GLUE, PHRASE_PENALTY, TRANSLATION, UNKNOWN_WORD, WORD_PENALTY, System
from hyperbaton.lm import LanguageModel
from hyperbaton.models.osm import OperationSequence
from hyperbaton.phrases import PhraseTable, ReorderingType, RuleTable
from hyperbaton.phrases.moses import phrase_table_pieces, read_phrase_table, read_reordering_table, reordering_table_pieces
from hyperbaton.phrases.rules_moses import GLUE_FILE, RULE_FILE, glue_pieces, read_glue, rule_table_pieces

log = logging.getLogger(__name__)

_TABLE = "PhraseDictionary"
_REORDERING = "LexicalReordering"
_OPERATIONS = "OpSequenceModel"
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
# Keys of sparse features in the line of a reordering table, except for the files of words and classes.
_SPARSE_PARTS = ("sparse-phrase", "sparse-stack", "sparse-between")
_SPARSE = "sparse"  # appended to the table's name to name its model of sparse features
_KEYS: dict[str, dict[str, str | None]] = {
    _TABLE: {"path": None, "table-limit": None, "cache-size": None, "num-input-features": "0", **_FACTORS, **_ANY},
    _REORDERING: {"path": None, "type": None, **_FACTORS, **_ANY},
    _OPERATIONS: {"path": None, "support-features": None, **_FACTORS, **_ANY},
    **{kind: {"path": None, "order": None, "factor": "0", "lazyken": None, "load": None, **_ANY} for kind in _LMS},
    **{kind: {**_ANY} for kind in _PLAIN},
}
# Options with a section in moses.ini, and others, which are kept in a comment.
_SECTIONS = {
    "stack": "stack",
    "pop_limit": "cube-pruning-pop-limit",
    "threshold": "beam-threshold",
    "distortion_limit": "distortion-limit",
}
_FLAGS = {
    "early_distortion": "early-distortion-cost",
    "drop_unknown": "drop-unknown",
    "monotone_at_punctuation": "monotone-at-punctuation",
}
_OWN = ("future_distortion", "max_words")
_SEARCHES = {"0": "stack", "1": "cube"}
_PHRASES_ALONE = ("distortion_limit", "early_distortion", "monotone_at_punctuation", "future_distortion")
_CHART_SPAN = "max-chart-span"
_WHOLE_SENTENCE = 1000  # the span of glue rules written by Moses' training
_MARKUP = {"pass-through": False, "exclusive": True}
_MAX_PHRASE_LENGTH = 20  # default if a moses.ini does not set it


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
        found = counted(len(tables), "line of PhraseDictionary…", "lines of PhraseDictionary…")
        raise InputError(f"expected {expected}, found {found}", ini.path, line)
    options = _decoding(ini, tables[0])
    table = _read_rules(ini, *tables) if ini.is_chart else _read_table(ini, tables[0])
    lms: dict[str, LanguageModel] = {}
    reordering: dict[str, Reordering] = {}
    ours: dict[str, str] = {}  # the system's name of each feature
    of_tables = dict(zip((table.name for table in tables), (TRANSLATION, GLUE), strict=False))
    for name, feature in ini.features.items():
        own = of_tables.get(name) or _PLAIN.get(feature.kind, name)
        if own in ours.values():
            raise InputError(f"there is another feature {own}", ini.path, feature.line)
        ours[name] = own
        if isinstance(table, RuleTable):
            if feature.kind in (_REORDERING, _OPERATIONS, "Distortion"):
                raise InputError(
                    f"{feature.kind} scores phrases; a system with rules cannot have it", ini.path, feature.line
                )
            if feature.kind in _LMS:
                lms[name] = _read_lm(ini, feature)
        elif feature.kind == _REORDERING:
            reordering[name] = _read_reordering(ini, feature, table)
            if (sparse := _read_sparse(ini, feature, reordering[name])) is not None:
                reordering[f"{name}.{_SPARSE}"] = sparse
        elif feature.kind == _OPERATIONS:
            reordering[name] = _read_operations(ini, feature)
        elif feature.kind in _LMS:
            lms[name] = _read_lm(ini, feature)
    kinds = {feature.kind for feature in ini.features.values()} | ({"Distortion"} if ini.is_chart else set())
    absent = {name: 0.0 for kind, name in _PLAIN.items() if kind not in kinds}
    system = System.of(table, lms, reordering, absent, options)
    system = system.with_weights(_sparse_weights(ini, system))
    for name, weights in ini.weights.items():
        if name not in ini.features:
            raise InputError(f"there is a weight for {name}, but no such feature", ini.path, weights.line)
        n_weights = system.features[ours[name]]
        if len(weights.values) != n_weights:
            raise InputError(f"{name} needs {n_weights} weights, found {len(weights.values)}", ini.path, weights.line)
    for name, feature in ini.features.items():
        if name not in ini.weights and ours[name] != UNKNOWN_WORD:
            raise InputError(f"there is no weight for {name}", ini.path, feature.line)
    if ini.ignored:
        names = ", ".join(ini.ignored)
        log.warning("%s: ignored, since translations do not depend on it: %s", ini.path, names)
    if ini.shortened:
        names = ", ".join(ini.shortened)
        log.warning("%s: read %s; Moses ignores short names in this file", ini.path, names)
    return system.with_weights({ours[name]: weights.values for name, weights in ini.weights.items()})


def _check_feature(ini: MosesIni, feature: Feature) -> None:
    """Refuse unknown kinds of features and unknown keys in their lines."""
    known = _KEYS.get(_TABLE if feature.kind.startswith(_TABLE) else feature.kind)
    if known is None:
        kinds = ", ".join([*_PLAIN, f"{_TABLE}…", _REORDERING, _OPERATIONS, *_LMS])
        raise InputError(f"unknown feature {feature.kind}; known: {kinds}", ini.path, feature.line)
    for key, value in feature.values.items():
        if feature.kind == _REORDERING and key.startswith("sparse-"):
            continue
        if key not in known:
            raise InputError(f"{feature.kind} with {key}= cannot be imported", ini.path, feature.line)
        if known[key] not in (None, value):
            message = f"{feature.kind} with {key}={value} cannot be imported, only {key}={known[key]}"
            raise InputError(message, ini.path, feature.line)


def _natural(ini: MosesIni, feature: Feature, key: str) -> int | None:
    """An integer in a feature's line."""
    text = feature.values.get(key)
    if text is not None and not (text.isascii() and text.isdigit()):
        raise InputError(f"{key} must be a whole number, found {text!r}", ini.path, feature.line)
    return None if text is None else int(text)


def _check_n_features(ini: MosesIni, feature: Feature, n: int, what: str) -> None:
    wanted = _natural(ini, feature, "num-features")
    if wanted not in (None, n):
        raise InputError(f"num-features={wanted}, but {what} {n}", ini.path, feature.line)


def _read_table(ini: MosesIni, feature: Feature) -> PhraseTable:
    file = ini.file(feature)
    table = read_phrase_table(file)
    if len(table):
        _check_n_features(ini, feature, table.scores.shape[1], f"the scores in a row of {file} are")
    line = ini.value("max-phrase-length")
    longest = _MAX_PHRASE_LENGTH
    if line is not None:
        if not (line.text.isascii() and line.text.isdigit() and int(line.text)):
            message = f"[max-phrase-length] expects a whole number of at least 1, found {line.text!r}"
            raise InputError(message, ini.path, line.number)
        longest = int(line.text)
    keep = table.source.lengths[table.sources] <= longest
    return table if keep.all() else table.select(keep)


def _read_rules(ini: MosesIni, rules: Feature, glue: Feature) -> RuleTable:
    """Read the rules of a rule table, and check the glue grammar, which is built in."""
    if "table-limit" in glue.values:
        raise InputError("a glue grammar has no table-limit", ini.path, glue.line)
    file = ini.file(rules)
    table = RuleTable.from_moses(file)
    if len(table):
        _check_n_features(ini, rules, table.table.scores.shape[1], f"the scores in a row of {file} are")
    _check_n_features(ini, glue, 1, "the scores of a glue grammar are")
    read_glue(ini.file(glue))
    return table


def _chart_span(ini: MosesIni, opt: Option) -> Arguments:
    """The longest span of a rule. Glue rules must be able to span whole sentences."""
    section = ini.sections.get(_CHART_SPAN)
    lines = section.lines if section is not None else []
    if len(lines) != 2:
        at = lines[-1].number if lines else section.number if section is not None else None
        message = f"[{_CHART_SPAN}] expects two values, of rules and of the glue grammar, found {len(lines)}"
        raise InputError(message, ini.path, at)
    span, whole = (_number(ini, f"[{_CHART_SPAN}]", opt, line.text, line.number) for line in lines)
    if 0 < whole < _WHOLE_SENTENCE:
        message = f"[{_CHART_SPAN}] of the glue grammar must be {_WHOLE_SENTENCE} or more, found {lines[1].text}"
        raise InputError(message, ini.path, lines[1].number)
    return {opt.name: span}


def _read_reordering(ini: MosesIni, feature: Feature, table: PhraseTable) -> ReorderingTable:
    parts = feature.values.get("type", "").split("-")
    try:
        kind = ReorderingType.parse("-".join(p for p in parts if p not in ("allff", "collapseff")))
    except OptionError as error:
        raise InputError(str(error), ini.path, feature.line) from error
    probabilities = read_reordering_table(ini.file(feature), kind, table)
    model = ReorderingTable(kind, probabilities, "collapseff" in parts)
    _check_n_features(ini, feature, model.n_features, f"the features of type={feature.values['type']} are")
    return model


def _read_sparse(ini: MosesIni, feature: Feature, model: Reordering) -> SparseReordering | None:
    """The sparse features of a reordering table's line."""
    keys = [key for key in feature.values if key.startswith("sparse-")]
    if not keys or not isinstance(model, ReorderingTable):
        return None
    labels: list[Labels] = []
    for key in keys:
        if key in _SPARSE_PARTS:
            continue
        _, kind, *rest = key.split("-", 3)
        if kind not in ("words", "clusters") or len(rest) != 2 or rest[0] not in ("source", "target"):
            raise InputError(f"{feature.kind} with {key}= cannot be imported", ini.path, feature.line)
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
    missing = [part for part in _SPARSE_PARTS if part not in keys]
    if missing:
        message = f"{feature.kind} with sparse features but without {', '.join(missing)} cannot be imported"
        raise InputError(message, ini.path, feature.line)
    if model.kind.direction != "bidirectional":
        raise InputError("sparse features can be imported only with a bidirectional table", ini.path, feature.line)
    return SparseReordering(_set_name(model), tuple(labels))


def _set_name(model: ReorderingTable) -> str:
    """Our name for the orientation set of a table."""
    kind = model.kind
    return kind.orientations if kind.unit == "wbe" else f"{kind.unit}-{kind.orientations}"


def _sparse_weights(ini: MosesIni, system: System) -> dict[str, list[float]]:
    """The weights of sparse features from [weight-file]."""
    line = ini.value("weight-file")
    if line is None:
        return {}
    file = ini.find(line.text, line.number)
    known = tuple(f"{name.removesuffix(f'.{_SPARSE}')}_" for name in system.sparse)
    for number, text in enumerate(read_lines(file), start=1):
        if text.strip() and not text.startswith(known):
            raise InputError(f"no feature of {ini.path} has the sparse weight {text.strip()!r}", file, number)
    return {name: read_weights(file, name.removesuffix(f".{_SPARSE}"), model) for name, model in system.sparse.items()}


def _read_operations(ini: MosesIni, feature: Feature) -> ModelUse:
    # Moses treats anything but "no" as yes.
    supporting = feature.values.get("support-features") != "no"
    file = ini.file(feature)
    try:
        model = OperationSequence.of_language_model(LanguageModel.read_arpa(file), supporting=supporting)
    except OptionError as error:
        raise InputError(f"{file}: {error}", ini.path, feature.line) from error
    _check_n_features(ini, feature, model.n_values, "the features of an operation sequence model are")
    return ModelUse(model)


def _read_lm(ini: MosesIni, feature: Feature) -> LanguageModel:
    _check_n_features(ini, feature, 1, "the features of a language model are")
    lm = LanguageModel.read_arpa(ini.file(feature))
    order = _natural(ini, feature, "order")
    # KenLM always uses the whole model.
    if feature.kind not in ("KENLM", "LazyKENLM") and order is not None and order < lm.order:
        message = f"{feature.kind} with order={order} cannot be imported: the model is of order {lm.order}"
        raise InputError(message, ini.path, feature.line)
    return lm


def _decoding(ini: MosesIni, table: Feature) -> Decoding:
    """The options of the search; those that are not given have Moses' defaults."""
    known = {opt.name: opt for opt in options_of(Decoding)}
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
    unused = _PHRASES_ALONE if ini.is_chart else ()
    for name, section in _SECTIONS.items():
        if name not in unused and (line := ini.value(section)) is not None:
            values[name] = _number(ini, f"[{section}]", known[name], line.text, line.number)
    if "table-limit" in table.values:
        values["table_limit"] = _number(ini, "table-limit", known["table_limit"], table.values["table-limit"], table.line)
    values |= {name: ini.flag(section) for name, section in _FLAGS.items() if name not in unused}
    if ini.is_chart:
        values |= _chart_span(ini, known["max_span"])
    else:
        values |= _choice(ini, "search-algorithm", "search", {**_SEARCHES, CHART: ""})  # not available here
    values |= _choice(ini, "xml-input", "markup", _MARKUP)
    if (own := ini.own_options) is not None:
        try:
            settings = parse_settings(Decoding, own.text.split())
        except OptionError as error:
            raise InputError(str(error), ini.path, own.number) from error
        values |= {name: getattr(settings, name) for name in _OWN if f"{known[name].flag}=" in own.text}
    return replace(defaults, **values)


def _number(ini: MosesIni, what: str, opt: Option, text: str, line: int) -> int | float:
    try:
        value = int(text) if opt.type is int else float(text)
        opt.check(value)
    except ValueError as error:
        kind = "a whole number" if opt.type is int else "a number"
        raise InputError(f"{what} expects {kind}, found {text!r}", ini.path, line) from error
    except OptionError as error:
        raise InputError(f"{what}: {error}", ini.path, line) from error
    return value


def _choice(ini: MosesIni, section: str, name: str, choices: Mapping[str, object]) -> Arguments:
    line = ini.value(section)
    if line is None:
        return {}
    if line.text not in choices:
        raise InputError(
            f"[{section}] cannot be imported unless its value is {' or '.join(choices)}; found {line.text!r}",
            ini.path,
            line.number,
        )
    return {name: choices[line.text]}


def _reordering_rows(system: System, model: ReorderingTable, progress: Progress | None) -> Iterator[bytes]:
    """The rows of a reordering table, without missing ones."""
    table, probabilities = system.table, model.probabilities
    known = ~np.isnan(probabilities[:, 0])
    if model.kind.conditioning == "fe":
        return reordering_table_pieces(table.select(known), probabilities[known], "fe", progress, exact=True)
    source, _ = table.source.select(known)
    return reordering_table_pieces(replace(table, source=source), probabilities[known], "f", progress, exact=True)


def _table_of(system: System, sparse_name: str) -> str | None:
    """The table that sparse features belong to: with the same orientations, both sides, and no other sparse features."""
    sparse = system.sparse[sparse_name]
    for name, model in system.reordering.items():
        if (
            isinstance(model, ReorderingTable)
            and model.kind.direction == "bidirectional"
            and _set_name(model) == sparse.orientations
        ):
            return name if list(system.sparse) == [sparse_name] else None
    return None


def _label_lines(labels: Labels) -> Iterator[bytes]:
    names = labels.names.words()
    for word, number in zip(labels.vocabulary.words(), labels.numbers.tolist(), strict=True):
        yield (f"{word}\t{names[number]}\n" if labels.is_cluster else f"{word}\n").encode()


def _operation_lm(model: Reordering) -> LanguageModel | None:
    """The operation model of an operation sequence model in Moses' form."""
    if isinstance(model, ModelUse) and isinstance(model.model, OperationSequence):
        return model.model.moses_lm
    return None


def _rule_rows(table: PhraseTable, progress: Progress | None, *, exact: bool) -> Iterator[bytes]:
    return rule_table_pieces(RuleTable(table), progress, exact=exact)


def _chart_sections(options: Decoding) -> dict[str, object]:
    """The search settings of Moses' chart decoder."""
    return {
        "mapping": "0 T 0\n1 T 1",
        "search-algorithm": CHART,
        "inputtype": 3,
        "non-terminals": "X",
        _CHART_SPAN: f"{options.max_span}\n{_WHOLE_SENTENCE}",
    }


def _phrase_sections(system: System) -> dict[str, object]:
    """The search settings of Moses' phrase decoder."""
    return {
        "mapping": "0 T 0",
        "search-algorithm": next(number for number, search in _SEARCHES.items() if search == system.options.search),
        "max-phrase-length": max(_MAX_PHRASE_LENGTH, system.max_source_length),
    }


def export_moses(system: System, folder: str | PathLike[str], progress: Progress | None = None) -> Path:
    """Write a system in Moses' format: moses.ini, text tables, ARPA models; returns the path of moses.ini.

    Reordering models that Moses does not have are an error.
    """
    folder = Path(folder)
    foreign = [
        name
        for name, model in system.reordering.items()
        if not isinstance(model, ReorderingTable)
        and _operation_lm(model) is None
        and not (isinstance(model, SparseReordering) and _table_of(system, name) is not None)
    ]
    if foreign and system.is_hierarchical:
        raise OptionError(f"Moses' chart decoder has no reordering models; leave out {', '.join(foreign)}")
    if foreign:
        raise OptionError(
            f"Moses has no reordering model like {', '.join(foreign)}: only lexicalized tables, sparse features with a "
            "bidirectional table of the same orientations, and operation sequence models of words can be exported; "
            "--reordering NAME=TYPE:BEFORE,AFTER makes a table from trained lexicalized models"
        )
    system.table.check()
    sparse_weights: list[bytes] = []
    features: list[str] = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty"]
    table_file = RULE_FILE if system.is_hierarchical else "phrase-table.gz"
    write_rows = _rule_rows if system.is_hierarchical else phrase_table_pieces
    files = {str(folder / table_file): write_rows(system.table, progress, exact=True)}
    features.append(
        f"PhraseDictionaryMemory name={TRANSLATION} num-features={system.table.scores.shape[1]} path={table_file} "
        f"input-factor=0 output-factor=0 table-limit={system.options.table_limit}"
    )
    if system.is_hierarchical:
        files[str(folder / GLUE_FILE)] = glue_pieces()
        features.append(
            f"PhraseDictionaryMemory name={GLUE} num-features=1 path={GLUE_FILE} input-factor=0 output-factor=0 "
            "tuneable=true"
        )
    for name, model in system.reordering.items():
        if isinstance(model, ReorderingTable):
            file = f"reordering-table.{name}.{model.kind.name}.gz"
            kind = f"{model.kind.name}-{'collapseff' if model.collapse else 'allff'}"
            files[str(folder / file)] = _reordering_rows(system, model, progress)
            line = (
                f"LexicalReordering name={name} num-features={model.n_features} "
                f"type={kind} input-factor=0 output-factor=0 path={file}"
            )
            for sparse_name, sparse in system.sparse.items():
                if _table_of(system, sparse_name) == name:
                    line += " " + " ".join(f"{part}=1" for part in _SPARSE_PARTS)
                    for labels in sparse.labels:
                        key = f"sparse-{'clusters' if labels.is_cluster else 'words'}-{labels.side}-{labels.name}"
                        label_file = f"{key}.{name}"
                        files[str(folder / label_file)] = _label_lines(labels)
                        line += f" {key}={label_file}"
                    sparse_weights += weight_lines(name, sparse, system.weights[sparse_name])
            features.append(line)
        elif (operations := _operation_lm(model)) is not None:
            file = f"operationLM.{name}.gz"
            files[str(folder / file)] = operations.arpa_pieces()
            features.append(
                f"{_OPERATIONS} name={name} num-features={model.n_features} path={file} input-factor=0 output-factor=0 "
                f"support-features={'no' if model.n_features == 1 else 'yes'}"
            )
    if not system.is_hierarchical:
        features.append("Distortion")
    for name, lm in system.lms.items():
        files[str(folder / f"{name}.arpa.gz")] = lm.arpa_pieces()
        features.append(f"KENLM name={name} factor=0 path={name}.arpa.gz order={lm.order}")
    options = system.options
    own = to_mapping(options)
    unused = _PHRASES_ALONE if system.is_hierarchical else ()
    sections: dict[str, object] = {
        "input-factors": 0,
        **(_chart_sections(options) if system.is_hierarchical else _phrase_sections(system)),
        **{section: repr(getattr(options, name)) for name, section in _SECTIONS.items() if name not in unused},
        **{section: "true" for name, section in _FLAGS.items() if name not in unused and getattr(options, name)},
        **({"xml-input": "exclusive"} if options.markup else {}),
        "feature": "\n".join(features),
        "weight": "\n".join(
            f"{name}= {' '.join(map(repr, ws))}" for name, ws in system.weights.items() if name not in system.sparse
        ),
    }
    if system.sparse:
        sections["weight-file"] = "sparse-weights"
        files[str(folder / "sparse-weights")] = iter(sparse_weights)
    own_names = [name for name in _OWN if name not in unused]
    settings = " ".join(f"{opt.flag}={str(own[opt.flag]).lower()}" for opt in options_of(Decoding) if opt.name in own_names)
    text = f"{OWN_OPTIONS}{settings}\n\n" + "".join(f"[{name}]\n{value}\n\n" for name, value in sections.items())
    ini = folder / "moses.ini"
    files[str(ini)] = iter([text.encode()])
    write_files(files)
    return ini
