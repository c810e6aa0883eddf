"""Export of systems in Moses' format: a `moses.ini` with text tables and ARPA models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path

import numpy as np

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import options_of, to_mapping
from hyperbaton.base.progress import Progress
from hyperbaton.corpus.files import write_files
from hyperbaton.decode.moses.ini import (
    CHART,
    CHART_SPAN,
    COMMENTED,
    FLAGS,
    MAX_PHRASE_LENGTH,
    OPERATIONS,
    OWN_OPTIONS,
    PHRASES_ALONE,
    SEARCHES,
    SECTIONS,
    SPARSE_PARTS,
    WHOLE_SENTENCE,
)
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.reordering import Reordering
from hyperbaton.decode.scorers import ModelUse, ReorderingTable
from hyperbaton.decode.sparse import Labels, SparseReordering, weight_lines
from hyperbaton.decode.system import GLUE, TRANSLATION, System
from hyperbaton.lm import LanguageModel
from hyperbaton.models.osm import OperationSequence
from hyperbaton.phrases import RuleTable
from hyperbaton.phrases.moses import phrase_table_pieces, reordering_table_pieces
from hyperbaton.phrases.rules import GLUE_FILE, RULE_FILE, glue_pieces, rule_table_pieces


def _reordering_rows(system: System, model: ReorderingTable, progress: Progress | None) -> Iterator[bytes]:
    """The rows of a reordering table, without missing ones."""
    table, probabilities = system.table, model.probabilities
    has_row = ~np.isnan(probabilities[:, 0])
    if model.kind.conditioning == "fe":
        return reordering_table_pieces(table.select(has_row), probabilities[has_row], "fe", progress, exact=True)
    source, _ = table.source.select(has_row)
    return reordering_table_pieces(replace(table, source=source), probabilities[has_row], "f", progress, exact=True)


def _table_of(system: System, sparse_name: str) -> str | None:
    """The table that sparse features belong to: with the same orientations, both sides, and no other sparse features."""
    sparse = system.sparse[sparse_name]
    for name, model in system.reordering.items():
        if (
            isinstance(model, ReorderingTable)
            and model.kind.direction == "bidirectional"
            and model.set_name == sparse.orientations
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


def _search_sections(system: System) -> dict[str, object]:
    """The search settings of Moses' chart decoder, or of its phrase decoder."""
    if system.is_hierarchical:
        return {
            "mapping": "0 T 0\n1 T 1",
            "search-algorithm": CHART,
            "inputtype": 3,
            "non-terminals": "X",
            CHART_SPAN: f"{system.options.max_span}\n{WHOLE_SENTENCE}",
        }
    return {
        "mapping": "0 T 0",
        "search-algorithm": next(number for number, search in SEARCHES.items() if search == system.options.search),
        "max-phrase-length": max(MAX_PHRASE_LENGTH, system.max_source_length),
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
            "--reordering NAME=TYPE:BEFORE,AFTER:SOURCE,TARGET,LINKS makes a table from other orientation models"
        )
    system.table.check()
    sparse_weights: list[bytes] = []
    features: list[str] = ["UnknownWordPenalty", "WordPenalty", "PhrasePenalty"]
    table_file = RULE_FILE if system.is_hierarchical else "phrase-table.gz"
    if system.is_hierarchical:
        rows = rule_table_pieces(RuleTable(system.table), progress, exact=True)
    else:
        rows = phrase_table_pieces(system.table, progress, exact=True)
    files = {str(folder / table_file): rows}
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
                    line += " " + " ".join(f"{part}=1" for part in SPARSE_PARTS)
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
                f"{OPERATIONS} name={name} num-features={model.n_features} path={file} input-factor=0 output-factor=0 "
                f"support-features={'no' if model.n_features == 1 else 'yes'}"
            )
    if not system.is_hierarchical:
        features.append("Distortion")
    for name, lm in system.lms.items():
        files[str(folder / f"{name}.arpa.gz")] = lm.arpa_pieces()
        features.append(f"KENLM name={name} factor=0 path={name}.arpa.gz order={lm.order}")
    options = system.options
    values = to_mapping(options)
    unused = PHRASES_ALONE if system.is_hierarchical else ()
    sections: dict[str, object] = {
        "input-factors": 0,
        **_search_sections(system),
        **{section: repr(getattr(options, name)) for name, section in SECTIONS.items() if name not in unused},
        **{section: "true" for name, section in FLAGS.items() if name not in unused and getattr(options, name)},
        **({"xml-input": "exclusive"} if options.markup else {}),
        "feature": "\n".join(features),
        "weight": "\n".join(
            f"{name}= {' '.join(map(repr, ws))}" for name, ws in system.weights.items() if name not in system.sparse
        ),
    }
    if system.sparse:
        sections["weight-file"] = "sparse-weights"
        files[str(folder / "sparse-weights")] = iter(sparse_weights)
    commented = [name for name in COMMENTED if name not in unused]
    settings = " ".join(
        f"{opt.flag}={str(values[opt.flag]).lower()}" for opt in options_of(Decoding) if opt.name in commented
    )
    text = f"{OWN_OPTIONS}{settings}\n\n" + "".join(f"[{name}]\n{value}\n\n" for name, value in sections.items())
    ini = folder / "moses.ini"
    files[str(ini)] = iter([text.encode()])
    write_files(files)
    return ini
