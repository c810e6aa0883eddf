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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base.arrays import Array
from hyperbaton.base.columns import ArrayFields
from hyperbaton.base.errors import ArtefactError, DamagedError, OptionError
from hyperbaton.base.forms import Form, Layout, within
from hyperbaton.base.options import check_options, from_mapping, to_mapping
from hyperbaton.base.packed import core_numbers
from hyperbaton.base.picklable import Picklable
from hyperbaton.base.shown import Display
from hyperbaton.base.store import REFERENCE, Artefact, Kind, Manifest, read_artefact, save
from hyperbaton.corpus import Vocabulary
from hyperbaton.decode.locations import Location, SystemPart
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.reordering import Reordering
from hyperbaton.decode.scorers import ModelUse
from hyperbaton.decode.sparse import SparseReordering
from hyperbaton.lm import LanguageModel
from hyperbaton.phrases import PhraseTable, RuleTable
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
DEFAULT_TRANSLATION, DEFAULT_LM = 0.2, 0.5
LARGEST_WEIGHT = 1e9  # keeps sums of scores finite
SAMPLE = 100_000  # source phrases whose words show whether a model knows the language


@dataclass(frozen=True)
class PhraseIndex(ArrayFields):
    """What finds source phrases: the rank of each word in their order, and the number of words of the longest phrase."""

    ranks: npt.NDArray[np.uint32]
    max_length: int = 0

    LAYOUT: ClassVar[Layout] = {"ranks": "u4 n_ranks"}

    @classmethod
    def of(cls, table: PhraseTable) -> PhraseIndex:
        source = table.source
        ranks = _core.phrase_ranks(source.core, source.vocabulary.spelling)
        return cls(ranks, int(source.lengths[:].max(initial=1)))


class Packing(NamedTuple):
    """What a packed system has: the best translations of each phrase, 0 for all; and whether its values are exact."""

    table_limit: int
    exact: bool


@dataclass(frozen=True)
class RuleIndex(ArrayFields):
    """Index of source sides of rules: a trie of their symbols."""

    symbols: npt.NDArray[np.uint32]
    children: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]

    LAYOUT: ClassVar[Layout] = {
        "symbols": "u4|packed n_nodes",
        "children": "u4|packed n_nodes+1",
        "ends": "u4|packed n_nodes",
    }

    @classmethod
    def of(cls, table: PhraseTable) -> RuleIndex:
        source = table.source
        return cls(*_core.build_rule_trie(source.core, _word_number(source.vocabulary, SOURCE_GAPS[0])))


@dataclass(frozen=True, repr=False)
class System(Display, Picklable):
    """Everything needed for translation.

    `lm_words` are each language model's numbers of the target words; `located` has the parts that were read from
    artefacts, to which a saved system refers; `packed` what was kept of the system it was packed from; `text` is the
    processing of raw text, if any.
    """

    table: PhraseTable
    lms: Mapping[str, LanguageModel]
    reordering: Mapping[str, Reordering]
    weights: Mapping[str, list[float]]
    options: Decoding = field(default_factory=Decoding)
    index: PhraseIndex | RuleIndex = field(kw_only=True)
    lm_words: Mapping[str, npt.NDArray[np.uint32]] = field(kw_only=True)
    located: tuple[SystemPart, ...] = field(default=(), kw_only=True)
    packed: Packing | None = field(default=None, kw_only=True)
    text: TextProcessing | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        for name, model in self.reordering.items():
            if self.is_hierarchical and model.OF_PAIRS:
                raise OptionError(
                    f"{name} scores the pairs of a phrase table, not rules: train 'lexicalized' models instead"
                )

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
        uses = _uses(reordering or {})
        _check_names([*named, *uses])
        hierarchical, table = isinstance(table, RuleTable), table.table if isinstance(table, RuleTable) else table
        words = {name: lm.numbers_of(table.target.vocabulary) for name, lm in named.items()}
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

    @cached_property
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
                weights[name] = self.reordering[name].start_weights
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
            if values != merged.get(name, values) and name not in {*self.reordering, DISTORTION, GLUE}:
                self.need_unpacked(f"another weight of {name}, which ranks the translations of phrases,")
            merged[name] = values
        return self._changed(weights={name: merged[name] for name in features})

    def with_reordering(
        self,
        models: Mapping[str, Reordering | Any],
        weights: Mapping[str, float | list[float]] | None = None,
        *,
        located: Iterable[SystemPart] = (),
    ) -> System:
        """The system with more reordering models, all else unchanged; the arguments are those of `of`.

        The initial weights of new features are in proportion to the weights of the language models, which tuning may have
        scaled.
        """
        uses = _uses(models)
        _check_names([*self.lms, *self.reordering, *uses])
        lm_weights = [abs(weight) for name in self.lms for weight in self.weights[name]]
        scale = sum(lm_weights) / (DEFAULT_LM * len(lm_weights)) or 1.0 if lm_weights else 1.0
        system = self._changed(reordering={**self.reordering, **uses}, located=(*self.located, *located))
        system.check()
        start = {name: [scale * weight for weight in use.start_weights] for name, use in uses.items()}
        return system.with_weights({**start, **(weights or {})})

    def unknown_share(self, name: str) -> float:
        """The fraction of the words of the source phrases that a reordering model does not know; 0 if it does not say."""
        model = getattr(self.reordering[name], "model", None)
        vocabulary = getattr(model, "source_vocabulary_", getattr(model, "vocabulary_", None))
        phrases = self.table.source
        if not isinstance(vocabulary, Vocabulary) or len(phrases) == 0:
            return 0.0
        words, _ = phrases.gather(np.arange(0, len(phrases), 1 + len(phrases) // SAMPLE))
        unknown = vocabulary.find_all(phrases.vocabulary) == _core.UNKNOWN_WORD
        return float(unknown[words].mean())

    def with_options(self, options: Decoding) -> System:
        """The system with these decoding options."""
        self.check_applies(options)
        return self._changed(options=options)

    def check_applies(self, options: Decoding) -> None:
        """Raise OptionError unless the options are valid, and a packed system has the translations they ask for."""
        check_options(options)
        most, limit = 0 if self.packed is None else self.packed.table_limit, options.table_limit
        if most and not 1 <= limit <= most:
            raise OptionError(
                f"--table-limit {limit}: the packed system has only the best {most} translations of each phrase; give at "
                f"most {most}, or use the system that it was packed from"
            )

    def need_unpacked(self, what: str) -> None:
        """Raise OptionError if the system is packed."""
        if self.packed is not None:
            raise OptionError(
                f"{what} needs translations and models that a packed system no longer has; use the system that it was "
                "packed from"
            )

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
            scores=self.table.scores.core,
            **{name: core_numbers(column) for name, column in vars(self.index).items()},
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
            ranks=self.index.ranks,
            n_target_words=len(self.table.target.vocabulary),
        )

    def save(self, path: str | PathLike[str], *, copy: bool = False) -> None:
        """Write the system as an artefact that refers to parts read from artefacts; `copy` copies them."""
        folder = Path(path)
        arrays: dict[str, Array] = self.index.arrays("index")
        writers: dict[str, Callable[[Path], None]] = {}
        references: dict[str, dict[str, str]] = {}
        reordering: list[dict[str, object]] = []

        def refers(name: str, part: object) -> bool:
            location = next((entry.location for entry in self.located if entry.part is part), None)
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
            reordering.append({"name": name, **model.stored(name)})
            if not refers(name, model.part):
                arrays |= model.arrays(f"reordering.{i}")
                writers |= {f"reordering.{i}": model.save} if model.IS_ARTEFACT else {}
        details = {
            "lms": list(self.lms),
            "reordering": reordering,
            "weights": dict(self.weights),
            "n_pairs": len(self.table),
            "max_source_length": self.max_source_length,
            "references": references,
        }
        if self.packed is not None:
            details["packed"] = self.packed._asdict()
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
            if not model.fits(table):
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
        longest = details["max_source_length"]
        located: list[SystemPart] = []

        def locate(name: str, file: str, is_artefact: bool) -> Location:
            if (entry := details["references"].get(name)) is not None:
                return Location.from_json(entry, folder, name)
            return Location.of(artefact.part(file)) if is_artefact else Location.of(folder, file)

        def keep(part: object, location: Location) -> None:
            located.append(SystemPart(part, location))

        location = locate(TRANSLATION, "table", False)
        keep(table := open_table(location), location)
        lms: dict[str, LanguageModel] = {}
        for i, name in enumerate(details["lms"]):
            location = locate(name, f"lm.{i}", True)
            lms[name] = LanguageModel.load(location.path)
            keep(lms[name], location)
        reordering: dict[str, Reordering] = {}
        for i, entry in enumerate(details["reordering"]):
            kind, name = Reordering.kind_of(entry), entry["name"]
            location = locate(name, f"reordering.{i}", kind.IS_ARTEFACT)
            reordering[name] = kind.restored(entry, location)
            keep(reordering[name].part, location)
        text = _processing().TextProcessing.restore(details["text"], artefact.group("text")) if "text" in details else None
        system = cls(
            table,
            lms,
            reordering,
            {},
            from_mapping(Decoding, artefact.options),
            index=PhraseIndex(artefact["index.ranks"], longest)
            if longest
            else RuleIndex.from_arrays(artefact.group("index")),
            lm_words={name: artefact[f"lm.{i}.words"] for i, name in enumerate(lms)},
            located=tuple(located),
            packed=Packing(**details["packed"]) if "packed" in details else None,
            text=text,
        )
        system.check()
        missing = [name for name in system.features if name not in details["weights"]]
        if missing:
            raise ArtefactError(f"{folder}: has no weight for {', '.join(missing)}; build the system again")
        return system.with_weights(details["weights"])


def _processing() -> ModuleType:
    from hyperbaton.corpus import processing  # imported here: most systems translate tokenized text

    return processing


def _reordering_form(entry: object) -> Form:
    """The form of a reordering model in a manifest."""
    return {"name": str, **Reordering.kind_of(entry if isinstance(entry, dict) else {}).FORM}


def _layout(manifest: Manifest) -> Layout:
    """The arrays of a system, except for those of parts that it refers to."""
    details = manifest["details"]
    words = "u4 table.target.vocabulary.n_words"
    index = PhraseIndex if details["max_source_length"] else RuleIndex
    layout = within("index", index.LAYOUT) | {f"lm.{i}.words": words for i in range(len(details["lms"]))}
    if "text" in details:
        layout |= _processing().LAYOUT
    if TRANSLATION not in details["references"]:
        layout |= within("table", PhraseTable.LAYOUT)
    for i, entry in enumerate(details["reordering"]):
        if entry["name"] not in details["references"]:
            layout |= Reordering.kind_of(entry).layout(entry, f"reordering.{i}")
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
            "packed?": {"table_limit": int, "exact": bool},
            "text?": lambda _: _processing().FORM,
        }
    },
)


def _word_number(vocabulary: Vocabulary, word: str) -> int:
    """The core's number of a word; the largest number for an unknown word."""
    return vocabulary.number(word) % (1 << 32)


def open_table(location: Location) -> PhraseTable:
    """The phrase table of an artefact, memory-mapped."""
    return location.open(PhraseTable.LAYOUT, PhraseTable.from_arrays)


def _uses(models: Mapping[str, Reordering | Any]) -> dict[str, Reordering]:
    """The reordering models of a system, given as such or as the models that it uses."""
    return {name: model if isinstance(model, Reordering) else ModelUse(model) for name, model in models.items()}


def _check_names(names: Iterable[str]) -> None:
    """Refuse names of models that are taken, or that are invalid in n-best lists or a moses.ini."""
    taken = {*DEFAULT_WEIGHTS, TRANSLATION}
    for name in names:
        if name in taken:
            raise OptionError(f"there are two features named {name}; give the model another name")
        if not name or any(c.isspace() or c in "=#|/" for c in name):
            raise OptionError(f"a model cannot be named {name!r}: spaces, '=', '#', '|' and '/' are not allowed")
        taken.add(name)
