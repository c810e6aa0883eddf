"""A translation system: phrase table, language models, reordering models, weights and options.

On disk it refers to parts that are separate artefacts, and contains the others; `copy` makes it contain all.

A system's score of a translation is the sum over its features of weight times value:

    TranslationModel0      natural logs of the phrase table's scores, a weight for each
    WordPenalty0           −1 for each target word          PhrasePenalty0        1 for each phrase
    UnknownWordPenalty0    −100 for each unknown word       Distortion0           −|d| for each phrase
    LM0, LM1 …             log p of the translation
    one name for each reordering model

A hierarchical system translates with rules instead of phrases. It has no distance, but a feature for glue rules,
TranslationModel1, and its penalties also count the start and the end of the sentence as words and rules, as in Moses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import ArtefactError, DamagedError, OptionError
from hyperbaton.base.forms import Form, Json, JsonObject, Layout, within
from hyperbaton.base.options import check_options, from_mapping, to_mapping
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.shown import Display
from hyperbaton.base.store import REFERENCE, Arrays, Artefact, Kind, Manifest, read_artefact, save
from hyperbaton.corpus import Vocabulary
from hyperbaton.decode.locations import Location, SystemPart
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.scorers import ModelUse, Reordering, ReorderingTable
from hyperbaton.decode.sparse import SparseReordering
from hyperbaton.lm import LanguageModel
from hyperbaton.models import load_model
from hyperbaton.phrases import PhraseTable, ReorderingType, RuleTable
from hyperbaton.phrases.reordering import DistinctRows
from hyperbaton.phrases.rules import SOURCE_GAPS, TARGET_GAPS

if TYPE_CHECKING:
    from hyperbaton.corpus.processing import TextProcessing

KIND = "system"
T = TypeVar("T")
DISTORTION = "Distortion0"
TRANSLATION = _core.table_feature()
OWN_FEATURES = tuple(_core.own_features())  # features of the options, after the table's scores
WORD_PENALTY, PHRASE_PENALTY, UNKNOWN_WORD = OWN_FEATURES
GLUE = _core.glue_feature()

# Initial weights before tuning: those written by Moses' training.
DEFAULT_WEIGHTS = {DISTORTION: 0.3, WORD_PENALTY: -1.0, PHRASE_PENALTY: 0.2, UNKNOWN_WORD: 1.0, GLUE: 1.0}
DEFAULT_TRANSLATION, DEFAULT_LM, DEFAULT_REORDERING = 0.2, 0.5, 0.3
_USE = ("use", "beta", "inside", "per_class")  # attributes of a model's use
LARGEST_WEIGHT = 1e9  # keeps sums of scores finite


class PhraseIndex(NamedTuple):
    """Index of source phrases: hash slots, and the number of words of the longest phrase."""

    slots: npt.NDArray[np.uint32]
    max_length: int

    @classmethod
    def of(cls, table: PhraseTable) -> PhraseIndex:
        source = table.source
        return cls(_core.build_phrase_index(source.core), int(source.lengths.max(initial=1)))


RULES_LAYOUT: Layout = {"symbols": "u4 n_nodes", "children": "u4 n_nodes+1", "phrases": "u4 n_nodes"}


class RuleIndex(NamedTuple):
    """Index of source sides of rules: a trie of their symbols."""

    symbols: npt.NDArray[np.uint32]
    children: npt.NDArray[np.uint32]
    phrases: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, table: PhraseTable) -> RuleIndex:
        source = table.source
        return cls(*_core.build_rule_trie(source.core, _word_number(source.vocabulary, SOURCE_GAPS[0])))

    def arrays(self, prefix: str) -> dict[str, Array]:
        """Everything as named arrays, for the store."""
        return {f"{prefix}.{name}": array for name, array in self._asdict().items()}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> RuleIndex:
        """The inverse of `arrays`, names without the prefix."""
        return cls(*(arrays[name] for name in cls._fields))


@dataclass(frozen=True, repr=False)
class System(Display, Picklable):
    """Everything needed for translation.

    `lm_words` are each language model's numbers of the target words; `located` has the parts that were read from
    artefacts, to which a saved system refers; `text` is the processing of raw text, if any.
    """

    table: PhraseTable
    lms: Mapping[str, LanguageModel]
    reordering: Mapping[str, Reordering]
    weights: Mapping[str, list[float]]
    options: Decoding = field(default_factory=Decoding)
    index: PhraseIndex | RuleIndex = field(kw_only=True)
    lm_words: Mapping[str, npt.NDArray[np.uint32]] = field(kw_only=True)
    located: tuple[SystemPart, ...] = field(default=(), kw_only=True)
    text: TextProcessing | None = field(default=None, kw_only=True)

    @classmethod
    def of(
        cls,
        table: PhraseTable | RuleTable,
        lms: Mapping[str, LanguageModel] | Iterable[LanguageModel] = (),
        reordering: Mapping[str, Reordering | Any] | None = None,
        weights: Mapping[str, float | list[float]] | None = None,
        options: Decoding | None = None,
        *,
        located: Iterable[SystemPart] = (),
    ) -> System:
        """Assemble a system; missing weights have the usual initial values. Rules make it hierarchical.

        Reordering models may be tables, uses of a model, or models themselves, built-in or third-party. `located`: the
        parts to which a saved system should refer, and their locations.
        """
        named = dict(lms) if isinstance(lms, Mapping) else {f"LM{i}": lm for i, lm in enumerate(lms)}
        uses = {
            name: model if isinstance(model, ReorderingTable | ModelUse | SparseReordering) else ModelUse(model)
            for name, model in (reordering or {}).items()
        }
        _check_names([*named, *uses])
        hierarchical, table = isinstance(table, RuleTable), table.table if isinstance(table, RuleTable) else table
        words = {name: lm_numbers(lm, table.target.vocabulary.lookup) for name, lm in named.items()}
        index = RuleIndex.of(table) if hierarchical else PhraseIndex.of(table)
        system = cls(table, named, uses, {}, options or Decoding(), index=index, lm_words=words, located=tuple(located))
        return system.with_weights(system.default_weights() | dict(weights or {}))

    @property
    def is_hierarchical(self) -> bool:
        """Whether it translates with rules instead of phrases."""
        return isinstance(self.index, RuleIndex)

    def facts(self) -> dict[str, object]:
        """Its parts."""
        return {
            "rules" if self.is_hierarchical else "phrase pairs": len(self.table),
            "language models": list(self.lms),
            "reordering models": list(self.reordering),
        }

    @property
    def features(self) -> dict[str, int]:
        """The number of values of each feature, in the order of n-best lists."""
        return {
            **{name: model.n_features for name, model in self.reordering.items()},
            **({} if self.is_hierarchical else {DISTORTION: 1}),
            **dict.fromkeys(self.lms, 1),
            WORD_PENALTY: 1,
            PHRASE_PENALTY: 1,
            TRANSLATION: self.table.scores.shape[1],
            **({GLUE: 1} if self.is_hierarchical else {}),
            UNKNOWN_WORD: 1,
        }

    @property
    def max_source_length(self) -> int:
        """The length of the longest source phrase in words; 0 for rules."""
        return 0 if isinstance(self.index, RuleIndex) else self.index.max_length

    @property
    def sparse(self) -> dict[str, SparseReordering]:
        """The models of sparse features."""
        return {name: model for name, model in self.reordering.items() if isinstance(model, SparseReordering)}

    @property
    def dense_features(self) -> dict[str, int]:
        """The features whose values are columns of numbers: all but the sparse ones."""
        return {name: n for name, n in self.features.items() if name not in self.sparse}

    def default_weights(self) -> dict[str, float | list[float]]:
        """The initial, untuned weights."""
        weights: dict[str, float | list[float]] = {}
        for name, n in self.features.items():
            if name in self.reordering:
                use = self.reordering[name]
                if isinstance(use, SparseReordering):
                    weights[name] = [0.0] * n
                    continue
                own = getattr(use.model, "start_weights", None) if isinstance(use, ModelUse) else None
                weights[name] = own or [DEFAULT_REORDERING] * n
            elif name in self.lms:
                weights[name] = [DEFAULT_LM]
            else:
                weights[name] = [DEFAULT_WEIGHTS.get(name, DEFAULT_TRANSLATION)] * n
        return weights

    def with_weights(self, weights: Mapping[str, float | list[float]]) -> System:
        """The system with these weights replacing its own."""
        merged = {name: list(values) for name, values in self.weights.items()}
        features = self.features
        for name, weight in weights.items():
            values = [float(v) for v in weight] if isinstance(weight, list | tuple) else [float(weight)]
            if name not in features:
                raise OptionError(
                    f"there is a weight for {name!r}, but the system has no such model; it has {', '.join(features)}"
                )
            if len(values) == 1:
                values *= features[name]
            if len(values) != features[name]:
                raise OptionError(f"{name} needs {features[name]} weights, not {len(values)}")
            if not (np.abs(values) <= LARGEST_WEIGHT).all():
                raise OptionError(f"weights of {name} must be finite, at most {LARGEST_WEIGHT:g}")
            merged[name] = values
        return self._changed(weights={name: merged[name] for name in features})

    def with_options(self, options: Decoding) -> System:
        """The system with these decoding options."""
        check_options(options)
        return self._changed(options=options)

    def limited(self, limit: int) -> Decoding:
        """The decoding options with a limit on the order, -1 for none: a longest jump or, for rules, a longest span."""
        if self.is_hierarchical:
            return replace(self.options, max_span=max(limit, 0))
        return replace(self.options, distortion_limit=limit)

    def with_text(self, text: TextProcessing) -> System:
        """The system with this processing of raw text."""
        return self._changed(text=text)

    def _changed(self, **changes: Any) -> System:
        """The system with other fields on which the indexes do not depend."""
        changed = replace(self, **changes)
        if "lookup" in vars(self):
            vars(changed)["lookup"] = self.lookup
        return changed

    @cached_property
    def grammar(self) -> _core.Grammar:
        """The rule table for look-ups by the core."""
        assert isinstance(self.index, RuleIndex)
        source, target = self.table.source.vocabulary, self.table.target.vocabulary
        return _core.Grammar(
            table=self.table.arrays_view,
            scores=self.table.scores[:],
            **self.index._asdict(),
            n_target_words=len(target),
            source_gap=_word_number(source, SOURCE_GAPS[0]),
            target_gaps=[_word_number(target, gap) for gap in TARGET_GAPS],
        )

    @cached_property
    def lookup(self) -> _core.LookupTable:
        """The phrase table for look-ups by the core."""
        assert isinstance(self.index, PhraseIndex)
        return _core.LookupTable(
            table=self.table.arrays_view,
            scores=self.table.scores.core,
            index=self.index.slots,
            n_target_words=len(self.table.target.vocabulary),
        )

    def save(self, path: str | PathLike[str], *, copy: bool = False) -> None:
        """Write the system as an artefact that refers to parts read from artefacts; `copy` copies them."""
        folder = Path(path)
        arrays: dict[str, Array] = (
            self.index.arrays("rules") if isinstance(self.index, RuleIndex) else {"index": self.index.slots}
        )
        writers: dict[str, Callable[[Path], None]] = {}
        references: dict[str, dict[str, str]] = {}
        reordering: list[JsonObject] = []

        def refers(name: str, part: object) -> bool:
            location = next((known.location for known in self.located if known.part is part), None)
            # Parts in the folder that this system replaces must be copied.
            if copy or location is None or location.is_inside(folder):
                return False
            references[name] = location.as_json(folder)
            return True

        if not refers(TRANSLATION, self.table):
            arrays |= self.table.arrays("table")
        for i, (name, lm) in enumerate(self.lms.items()):
            arrays[f"lm.{i}.words"] = self.lm_words[name]
            if not refers(name, lm):
                writers[f"lm.{i}"] = lm.save
        for i, (name, model) in enumerate(self.reordering.items()):
            if isinstance(model, ReorderingTable):
                reordering.append({"name": name, "table": model.kind.name, "collapse": model.collapse})
                if not refers(name, model.probabilities):
                    arrays |= model.distinct_rows.arrays(f"reordering.{i}")
            elif isinstance(model, SparseReordering):
                reordering.append({"name": name, "sparse": model.as_json()})
                arrays |= model.arrays(f"reordering.{i}")
            elif isinstance(model, ModelUse) and hasattr(model.model, "save"):
                reordering.append({"name": name, **{key: getattr(model, key) for key in _USE}})
                if not refers(name, model.model):
                    writers[f"reordering.{i}"] = model.model.save
            else:
                raise OptionError(f"the reordering model {name} cannot be saved: it has no method save")
        details = {
            "lms": list(self.lms),
            "reordering": reordering,
            "weights": dict(self.weights),
            "n_pairs": len(self.table),
            "max_source_length": self.max_source_length,
            "references": references,
        }
        if self.text is not None:
            arrays |= self.text.arrays("text")
            details["text"] = self.text.as_json()
        save(path, STORED, arrays, options=to_mapping(self.options), details=details, parts=writers)

    def check(self) -> None:
        """Raise DamagedError unless the sizes of the parts match."""
        table = self.table
        for name, words in self.lm_words.items():
            if words.shape != (len(table.target.vocabulary),):
                raise DamagedError(f"{name} does not match the phrase table")
        for name, model in self.reordering.items():
            if isinstance(model, ReorderingTable):
                n_rows = len(table.source) if model.kind.conditioning == "f" else len(table)
                if model.probabilities.shape != (n_rows, len(model.kind.sides) * len(model.orientations)):
                    raise DamagedError(f"{name} does not match the phrase table")
        if isinstance(self.index, RuleIndex):
            _ = self.grammar
            return
        if not 1 <= self.index.max_length <= 255:
            raise DamagedError(f"phrases cannot have {self.index.max_length} words")
        _ = self.lookup

    @classmethod
    def load(cls, path: str | PathLike[str]) -> System:
        """Open a stored system, memory-mapped."""
        return read_artefact(path, STORED, cls._read)

    @classmethod
    def _read(cls, artefact: Artefact) -> System:
        folder, details = artefact.path, artefact.details
        located: list[SystemPart] = []

        def read(name: str, own: Path, arrays: str, open_part: Callable[[Location], T]) -> T:
            entry = details["references"].get(name)
            if entry is not None:
                location = Location.from_json(entry, folder, name)
            else:
                location = Location.of(own if own == folder else artefact.part(own.name), arrays)
            part = open_part(location)
            located.append(SystemPart(part, location))
            return part

        table = read(TRANSLATION, folder, "table", open_table)
        lms = {
            name: read(name, folder / f"lm.{i}", "", lambda part: LanguageModel.load(part.path))
            for i, name in enumerate(details["lms"])
        }
        reordering: dict[str, Reordering] = {}
        for i, entry in enumerate(details["reordering"]):
            name, own = entry["name"], f"reordering.{i}"
            if "table" in entry:
                rows = read(name, folder, own, _open_rows)
                reordering[name] = ReorderingTable(ReorderingType.parse(entry["table"]), rows, entry["collapse"])
            elif "sparse" in entry:
                reordering[name] = SparseReordering.from_arrays(entry["sparse"], artefact.group(own))
            else:
                model = read(name, folder / own, "", lambda part: load_model(part.path))
                reordering[name] = ModelUse(model, **{key: entry[key] for key in _USE if key in entry})
        system = cls(
            table,
            lms,
            reordering,
            {},
            from_mapping(Decoding, artefact.options),
            index=PhraseIndex(artefact["index"], details["max_source_length"])
            if details["max_source_length"]
            else RuleIndex.from_arrays(artefact.group("rules")),
            lm_words={name: artefact[f"lm.{i}.words"] for i, name in enumerate(lms)},
            located=tuple(located),
            text=_restore_text(artefact) if "text" in details else None,
        )
        system.check()
        missing = [name for name in system.features if name not in details["weights"]]
        if missing:
            raise ArtefactError(f"{folder}: has no weight for {', '.join(missing)}; build the system again")
        return system.with_weights(details["weights"])


def _processing() -> ModuleType:
    from hyperbaton.corpus import processing  # imported here: most systems translate tokenized text

    return processing


def _restore_text(artefact: Artefact) -> TextProcessing:
    """The processing of raw text of a system that has some."""
    text: TextProcessing = _processing().TextProcessing.restore(artefact.details["text"], artefact.group("text"))
    return text


def _reordering_form(entry: Json) -> Form:
    """The form of a reordering model in a manifest: a table, sparse features, or the use of a model."""
    if isinstance(entry, dict) and "table" in entry:
        return {"name": str, "table": str, "collapse": bool}
    if isinstance(entry, dict) and "sparse" in entry:
        return {"name": str, "sparse": SparseReordering.FORM}
    return {"name": str, "use": str, "beta": float, "inside": bool, "per_class?": bool}


def _layout(manifest: Manifest) -> Layout:
    """The arrays of a system, except for those of parts that it refers to."""
    details = manifest["details"]
    words = "u4 table.target.vocabulary.n_words"
    index = {"index": "u4 n_slots"} if details["max_source_length"] else within("rules", RULES_LAYOUT)
    layout = {**index, **{f"lm.{i}.words": words for i in range(len(details["lms"]))}}
    if "text" in details:
        layout |= _processing().LAYOUT
    if TRANSLATION not in details["references"]:
        layout |= within("table", PhraseTable.LAYOUT)
    for i, entry in enumerate(details["reordering"]):
        if "table" in entry and entry["name"] not in details["references"]:
            layout |= within(f"reordering.{i}", DistinctRows.LAYOUT)
        elif "sparse" in entry:
            layout |= SparseReordering.layout(entry["sparse"], f"reordering.{i}")
    return layout


STORED = Kind(
    KIND,
    _layout,
    {
        "details": {
            "lms": list[str],
            "reordering": [_reordering_form],
            "weights": {"*": list[float]},
            "max_source_length": int,
            "references": {"*": REFERENCE},
            "text?": lambda _: _processing().FORM,
        }
    },
)


def _word_number(vocabulary: Vocabulary, word: str) -> int:
    """The core's number of a word; the largest number for an unknown word."""
    return vocabulary.lookup.find(word) % (1 << 32)


def open_table(location: Location) -> PhraseTable:
    """The phrase table of an artefact, memory-mapped."""
    return _open_arrays(location, PhraseTable.LAYOUT, PhraseTable.from_arrays)


def _open_rows(location: Location) -> DistinctRows:
    """The reordering table of an artefact, memory-mapped."""
    return _open_arrays(location, DistinctRows.LAYOUT, DistinctRows.from_arrays)


def _open_arrays(location: Location, layout: Layout, make: Callable[[Arrays], T]) -> T:
    prefix = location.arrays
    return read_artefact(location.path, None, lambda artefact: make(artefact.require(within(prefix, layout)).group(prefix)))


def _check_names(names: Iterable[str]) -> None:
    """Refuse names of models that are taken, or that are invalid in n-best lists or a moses.ini."""
    taken = {*DEFAULT_WEIGHTS, TRANSLATION}
    for name in names:
        if name in taken:
            raise OptionError(f"there are two features named {name}; give the model another name")
        if not name or any(c.isspace() or c in "=#|/" for c in name):
            raise OptionError(f"a model cannot be named {name!r}: spaces, '=', '#', '|' and '/' are not allowed")
        taken.add(name)


def lm_numbers(lm: LanguageModel, words: _core.Vocabulary) -> npt.NDArray[np.uint32]:
    """A language model's number of each word; unknown words have the number of `<unk>`."""
    numbers = lm.vocabulary.lookup.find_all(words)
    return np.where(numbers == _core.UNKNOWN_WORD, np.uint32(0), numbers).astype(np.uint32)
