"""Operation sequence model (OSM): translation as a sequence of operations, and an n-gram model over them.

    p(source, target, links) = Π_k p(o_k | o_{k−n+1} … o_{k−1})                          Durrani et al. 2011, 2013, 2015

A sentence pair is generated from left to right on the target side. The translation of words that are linked to each
other, a cept, is one operation; further source words of the cept continue it. Unlinked source words are inserted right
after the preceding word, unlinked target words are deleted in place. In between, operations move through the source
sentence: leave a gap, jump back to the n-th open gap from the right, jump forward to the right end
(`core/operations/walk.hh`). The names of operations are Moses', and so are the four counts that accompany them in the
search: gap width, gaps, open gaps and deletions, summed over the generated words.

With `units = "classes"` operations are those of word classes. With `"both"`, the probability of an operation o is

    λ p(o | operations) + (1 − λ) p(class of o | classes of operations) p(o | class of o).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from hyperbaton import _core
from hyperbaton.base import numeric
from hyperbaton.base.arrays import Array
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.base.forms import JsonObject, within
from hyperbaton.base.options import option
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations, Bitext, Text, Vocabulary
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.classes import WordClasses
from hyperbaton.lm import LanguageModel
from hyperbaton.lm.estimation import MAX_ORDER
from hyperbaton.lm.model import LAYOUT as LM_LAYOUT
from hyperbaton.models.shapes.base import ModelState, restored_side, side_arrays, side_layout
from hyperbaton.models.shapes.batch import Batch, Steps
from hyperbaton.models.shapes.step import StepModel

LOG_10 = 2.302585092994046
UNITS = ("words", "classes", "both")
ITSELF = "_TRANS_SLF_"  # the operation of words translated as themselves
# Initial weights, those written by Moses' training: log-probability, gap width, gaps, open gaps, deletions.
_WEIGHTS = (0.08, -0.02, 0.02, -0.001, 0.03)


def operation_text(bitext: Bitext, *, progress: Progress | None = None) -> Text:
    """The operations of each sentence pair, in Moses' training format.

    >>> pair = Bitext.of(["er hat es gesehen"], ["he has seen it"], [[(0, 0), (1, 1), (2, 3), (3, 2)]])
    >>> print(*operation_text(pair)[0])
    _TRANS_he_TO_er _TRANS_has_TO_hat _INS_GAP_ _TRANS_seen_TO_gesehen _JMP_BCK_1 _TRANS_it_TO_es
    """
    return _operations(bitext, _core.find_singletons(_spelled(bitext)), progress)


class _Operations(NamedTuple):
    """A bitext as operations: of words and of classes, if the model has them; corresponding token by token."""

    words: Text | None
    classes: Text | None

    @property
    def texts(self) -> list[Text]:
        return [text for text in self if text is not None]


@dataclass(eq=False)
class OperationSequence(StepModel):
    """n-gram model over the operations that generate a sentence pair (OSM)."""

    units: str = option("words", "operations of words, of word classes, or both, interpolated", choices=UNITS)
    order: int = option(5, "longest n-gram of operations", minimum=2, maximum=MAX_ORDER)
    prune: str = option(
        "0 0 1", "drop n-grams of operations seen at most this often, by order, as in hyperbaton lm", metavar='"N N …"'
    )
    interpolation: float = option(0.5, "units both: weight of the word model", minimum=0, maximum=1)
    supporting: bool = option(True, "also use gap width, gaps, open gaps and deletions as features of the search")

    uses: ClassVar = ("source_classes", "target_classes")
    nats: ClassVar[float] = LOG_10

    def fit(self, bitext: Bitext, annotations: Annotations = NOTHING, *, progress: Progress | None = None) -> Self:
        """Train on the operations of a linked bitext.

        Arguments:
            annotations: classes of the words of both sides, for operations of classes.
        """
        with self._training(bitext, annotations):
            if not bitext.need_links().points.size:
                raise InputError("nothing to learn from: no sentence pair has links", bitext.source.path)
            self._take_classes(bitext, annotations)
            text = self._operation_texts(bitext, progress)
            estimated = partial(LanguageModel.estimate, discount_fallback=True, threads=self.threads or None)
            self.lms_ = [estimated(each, self.order, prune=self.prune) for each in text.texts]
            self.n_operations_ = text.texts[0].n_tokens
            self.class_shares_ = _class_shares(text, self.lms_[0]) if self.units == "both" else np.empty(0, np.float32)
        return self

    @classmethod
    def of_language_model(cls, lm: LanguageModel, *, supporting: bool = True) -> Self:
        """Make the model from an operation model of Moses (`operationLM`), a language model in the ARPA format."""
        if lm.vocabulary.number("_INS_GAP_") < 0 and lm.vocabulary.number("_JMP_FWD_") < 0:
            raise OptionError("a language model without _INS_GAP_ and _JMP_FWD_ is not an operation model")
        model = cls(order=max(lm.order, 2), supporting=supporting)
        model.lms_, model.n_operations_, model.class_shares_ = [lm], 0, np.empty(0, np.float32)
        model.source_classes_ = model.target_classes_ = None
        model.signature_, model.train_seconds_, model.train_peak_mib_ = "an operation model of Moses", 0.0, 0.0
        return model

    def packed(self, exact: bool) -> Self:
        """The model with packed language models, quantised unless it must be exact."""
        smaller = copy(self)
        smaller.lms_ = [lm.packed(exact=exact) for lm in self.lms_]
        return smaller

    @property
    def moses_lm(self) -> LanguageModel | None:
        """The operation model in Moses' form; None if it has operations of classes."""
        return self.lms_[0] if self.units == "words" else None

    @property
    def n_values(self) -> int:
        """The values of a step in the search: log10 of the probability of its operations, and the four counts."""
        return len(_WEIGHTS) if self.supporting else 1

    @property
    def start_weights(self) -> list[float]:
        return list(_WEIGHTS[: self.n_values])

    def search_feature(self, batch: Batch, weights: list[float]) -> _core.Operations:
        """The model as a feature of the search, with a weight for each value."""
        self._check_fitted()
        source, target = batch.source, batch.options.target
        texts = [
            (None if self.units == "classes" else (source, target)),
            (None if self.source_classes_ is None else self._in_classes(source, target)),
        ]
        units = [
            _core.OperationUnits(
                model=lm.view,
                names=lm.vocabulary.lookup,
                source=src.core_tokens,
                source_names=src.vocabulary.spelling,
                targets=tgt.core_tokens,
                target_names=tgt.vocabulary.spelling,
            )
            for lm, (src, tgt) in zip(self.lms_, filter(None, texts), strict=True)
        ]
        return _core.Operations(
            units=units,
            options=batch.core_options(target.core_tokens),
            pairs=batch.pairs,
            cache=self._phrases_of(batch.table),
            share=self.interpolation,
            log_of_class=self.class_shares_,
            weights=list(weights),
        )

    def _phrases_of(self, table: object) -> _core.PhraseOperationsCache | None:
        """Cached data of the pairs of a phrase table, valid while table and model stay the same."""
        if table is None:
            return None
        key = (table, self.lms_, self.interpolation)
        last = self._last_phrases[-1] if self._last_phrases else None
        if last is None or any(a is not b for a, b in zip(last[0], key, strict=True)):
            last = key, _core.PhraseOperationsCache()
            self._last_phrases[:] = [last]
        return last[1]

    def step_scores(self, steps: Steps) -> tuple[Array, Array]:
        if not self._last_asked or self._last_asked[0] is not steps.batch:
            self._last_asked[:] = steps.batch, self.search_feature(steps.batch, self.start_weights)
        values, states = self._last_asked[1].score(
            sentence=steps.sentence,
            states=steps.states,
            coverage=steps.coverage.astype(np.uint8),
            options=steps.options,
        )
        return values[:, 0].astype(np.float64) * LOG_10, states

    @cached_property
    def _last_phrases(self) -> list[tuple[tuple[object, ...], _core.PhraseOperationsCache]]:
        return []

    @cached_property
    def _last_asked(self) -> list[Any]:
        """The last batch, and its feature: steps of a sentence are consecutive."""
        return []

    def operation_logprobs(self, bitext: Bitext) -> Array:
        """Natural log of the probability of each operation of a linked bitext, and of each sentence's end."""
        self._check_fitted()
        text = self._operation_texts(bitext, None)
        scored = [
            lm.score_words(each, threads=self.threads or None) for lm, each in zip(self.lms_, text.texts, strict=True)
        ]
        first = scored[0][0].astype(np.float64)
        if self.units != "both" or text.words is None:
            return first
        shares = np.zeros(len(first))
        is_operation = np.ones(len(first), bool)
        is_operation[scored[0][1][1:] - 1] = False
        shares[is_operation] = self.class_shares_[self.lms_[0].numbers(text.words)]
        second = scored[1][0] + shares
        mixed: Array = numeric.log(self.interpolation * numeric.exp(first) + (1 - self.interpolation) * numeric.exp(second))
        return mixed

    def summary(self) -> JsonObject:
        return {"samples": self.n_operations_, "ngrams": [lm.n_ngrams for lm in self.lms_]}

    def _take_classes(self, bitext: Bitext, annotations: Annotations) -> None:
        classes = annotations.source_classes, annotations.target_classes
        if self.units == "words":
            classes = None, None
        elif classes[0] is None or classes[1] is None:
            raise OptionError(
                f"units={self.units} needs classes of the words of both sides: --source-classes and --target-classes"
            )
        self.source_classes_, self.target_classes_ = classes
        self.source_vocabulary_, self.target_vocabulary_ = bitext.source.vocabulary, bitext.target.vocabulary

    def _in_classes(self, source: Text, target: Text) -> tuple[Text, Text]:
        return _class_text(source, self.source_classes_), _class_text(target, self.target_classes_)

    def _operation_texts(self, bitext: Bitext, progress: Progress | None) -> _Operations:
        words = operation_text(bitext, progress=progress)
        if self.source_classes_ is None:
            return _Operations(words, None)
        source, target = self._in_classes(bitext.source, bitext.target)
        in_classes = Bitext(source, target, bitext.need_links())
        classes = _operations(in_classes, np.zeros(len(source.vocabulary), np.uint8), progress)
        if (itself := words.vocabulary.number(ITSELF)) >= 0:
            with_itself = Vocabulary.of([*classes.vocabulary.words(), ITSELF])
            tokens = np.where(words.tokens == itself, np.uint32(len(with_itself) - 1), classes.tokens).astype(np.uint32)
            classes = Text(tokens, classes.offsets, with_itself)
        return _Operations(words if self.units == "both" else None, classes)

    def _known_arrays(self) -> dict[str, Array]:
        if self.source_classes_ is None:
            return {}
        arrays = side_arrays("source", self.source_vocabulary_, self.source_classes_)
        return arrays | side_arrays("target", self.target_vocabulary_, self.target_classes_)

    def _restore_known(self, state: ModelState) -> None:
        self.source_classes_ = self.target_classes_ = None
        if self.units != "words":
            self.source_vocabulary_, self.source_classes_ = restored_side(state, "source")
            self.target_vocabulary_, self.target_classes_ = restored_side(state, "target")

    def _arrays(self) -> dict[str, Array]:
        arrays: dict[str, Array] = {"n_operations": np.array([self.n_operations_]), "class_shares": self.class_shares_}
        for i, lm in enumerate(self.lms_):
            arrays |= {f"lm.{i}.{name}": array for name, array in lm.arrays().items()}
        return arrays

    def _layout(self) -> dict[str, str]:
        layout = {"n_operations": "i8 1", "class_shares": "f4 *", **within("lm.0", LM_LAYOUT)}
        if self.units != "words":
            layout |= side_layout("source") | side_layout("target")
        return layout | (within("lm.1", LM_LAYOUT) if self.units == "both" else {})

    def _restore(self, state: ModelState) -> None:
        self.n_operations_ = int(state.arrays["n_operations"][0])
        self.class_shares_ = state.arrays["class_shares"]
        models = state.group("lm")
        self.lms_ = [LanguageModel.from_arrays(models.group(str(i))) for i in range(1 + (self.units == "both"))]


def _spelled(bitext: Bitext) -> _core.SpelledBitext:
    links = bitext.need_links()
    return _core.SpelledBitext(
        source=bitext.source.core_tokens,
        source_words=bitext.source.vocabulary.spelling,
        target=bitext.target.core_tokens,
        target_words=bitext.target.vocabulary.spelling,
        links=links.points,
        link_offsets=links.offsets,
    )


def _operations(bitext: Bitext, singletons: npt.NDArray[np.uint8], progress: Progress | None) -> Text:
    tokens, offsets, vocabulary = _core.write_operations(_spelled(bitext), singletons, progress=progress)
    return Text(tokens, offsets, Vocabulary(*vocabulary.arrays()), bitext.source.path)


def _class_text(text: Text, classes: WordClasses | None) -> Text:
    if classes is None:
        raise OptionError("the model has no word classes")
    names = Vocabulary.of([str(i) for i in range(int(classes.classes.max(initial=0)) + 1)])
    return Text(classes.tags(text).astype(np.uint32), text.offsets, names)


def _class_shares(text: _Operations, lm: LanguageModel) -> npt.NDArray[np.float32]:
    """log p(operation | its operation of classes), by the numbers of the word model.

    An unseen operation has the probability 1 / (size of the vocabulary).
    """
    words, classes = text.words, text.classes
    if words is None or classes is None:
        return np.empty(0, np.float32)
    shares = np.full(len(lm.vocabulary), -numeric.log(float(len(lm.vocabulary))), np.float32)
    class_of = np.zeros(len(words.vocabulary), np.int64)
    class_of[words.tokens] = classes.tokens
    n_words = np.bincount(words.tokens, minlength=len(words.vocabulary))
    n_classes = np.bincount(classes.tokens, minlength=len(classes.vocabulary))
    seen = np.flatnonzero(n_words)
    numbers = lm.vocabulary.find_all(words.vocabulary)[seen]
    shares[numbers] = numeric.log(n_words[seen] / n_classes[class_of[seen]])
    return shares
