"""Our aligner and our translation systems as classes of SIL Machine (the PyPI package `sil-machine`, extra `sil`).

`HyperbatonWordAligner` and `HyperbatonWordAlignmentModel` can be used as a `WordAligner` and a `WordAlignmentModel` of
that package, `HyperbatonTranslationEngine` as a `TranslationEngine`.

Segments are sequences of tokens. In empty tokens and in tokens with a space, a control character or `|||`, characters are
replaced for the aligner or the search; positions do not change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hyperbaton.align import Aligner, LexicalTable
from hyperbaton.base.errors import Cancelled, MissingExtra, OptionError
from hyperbaton.base.options import from_mapping, to_mapping
from hyperbaton.corpus import Bitext, Vocabulary
from hyperbaton.decode import NBest, System, TokenTranslator, Translations
from hyperbaton.decode.derivations import Derivations

try:
    from machine.annotations.range import Range
    from machine.corpora import AlignedWordPair
    from machine.tokenization import WHITESPACE_DETOKENIZER, WHITESPACE_TOKENIZER
    from machine.translation import (
        Trainer,
        TrainStats,
        TranslationEngine,
        TranslationResult,
        TranslationResultBuilder,
        TranslationSources,
        WordAligner,
        WordAlignmentMatrix,
        WordAlignmentModel,
    )
    from machine.translation.word_vocabulary import WordVocabulary
    from machine.utils.progress_status import ProgressStatus
except ImportError as error:  # an ImportError, so that module discovery skips this one
    raise ImportError(str(MissingExtra("sil-machine", "sil"))) from error

NULL = "NULL"
_ODD = re.compile(r"\s|[\x00-\x1f\x7f]")


def as_line(tokens: Sequence[str]) -> str:
    """Write tokens as a line of text with the same number of tokens.

    >>> as_line(["New York", "", "a|||b"])
    'New_York _ a|-|b'
    """
    return " ".join(_ODD.sub("_", token).replace("|||", "|-|") or "_" for token in tokens)


class HyperbatonWordAligner(WordAligner):
    """A trained aligner: in memory, or a folder written by `align --save-model`."""

    def __init__(self, aligner: Aligner | str | PathLike[str]) -> None:
        self._aligner: Aligner | None = aligner if isinstance(aligner, Aligner) else Aligner.load(aligner)

    @property
    def aligner(self) -> Aligner:
        """The aligner itself."""
        if self._aligner is None:
            raise OptionError("the alignment model is not trained yet: train it, or load a saved one")
        return self._aligner

    def align(self, source_segment: Sequence[str], target_segment: Sequence[str]) -> WordAlignmentMatrix:
        return self.align_batch([(source_segment, target_segment)])[0]

    def align_batch(self, segments: Sequence[Sequence[Sequence[str]]]) -> Sequence[WordAlignmentMatrix]:
        bitext = Bitext.of([as_line(pair[0]) for pair in segments], [as_line(pair[1]) for pair in segments])
        links = self.aligner.align(bitext, threads=1 if len(segments) == 1 else None)
        return [
            WordAlignmentMatrix.from_word_pairs(len(pair[0]), len(pair[1]), points)
            for pair, points in zip(segments, links, strict=True)
        ]


class _Words(WordVocabulary):
    """The words of one side in the aligner's form, the empty word first."""

    def __init__(self, words: Vocabulary, form: Callable[[str], str]) -> None:
        self._words, self._form = words, form

    def __len__(self) -> int:
        return len(self._words) + 1

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(f"word {number} of {len(self)}")
        number %= len(self)
        return NULL if number == 0 else self._words.word(number - 1)

    def __iter__(self) -> Iterator[str]:
        return iter([NULL, *self._words.words()])

    def index(self, word: str | None, *_: Any) -> int:
        """The number of a word, 0 for the empty word; -1 for an unknown word."""
        if word is None or word == NULL:
            return 0
        number = self._words.number(self._form(as_line([word])))
        return -1 if number < 0 else number + 1


class HyperbatonWordAlignmentModel(HyperbatonWordAligner, WordAlignmentModel):
    """An aligner stored in a folder, with training and translation probabilities.

    Words have the aligner's form (lower-cased unless its options say otherwise); number 0 is the empty word.
    Translation scores are p(target word | source word), alignment scores posteriors of links.
    """

    def __init__(self, path: str | PathLike[str] | None = None, options: Aligner | None = None) -> None:
        self.path = None if path is None else Path(path)
        self.options = options or Aligner()
        self._table: LexicalTable | None = None
        self._aligner = Aligner.load(self.path) if self.path is not None and self.path.exists() else None

    def use(self, aligner: Aligner) -> None:
        """Replace the current aligner by a trained one."""
        self._aligner, self._table = aligner, None

    @property
    def source_words(self) -> WordVocabulary:
        return self._words(0)

    @property
    def target_words(self) -> WordVocabulary:
        return self._words(1)

    def _words(self, side: int) -> _Words:
        return _Words(self.aligner.vocabularies_[side], self.aligner.normalizations_[side].form)

    @property
    def special_symbol_indices(self) -> Collection[int]:
        return {0}

    def create_trainer(self, corpus: Any) -> Trainer:
        return HyperbatonTrainer(self, corpus)

    def get_translations(self, source_word: str | int | None, threshold: float = 0) -> Iterable[tuple[int, float]]:
        number = self._number(self.source_words, source_word)
        if number < 0:
            return []
        table = self._table = self._table or self.aligner.lexical_table()
        row = number - 1 if number else len(table.source)  # the row of the empty word is the last one
        rows = slice(int(table.offsets[row]), int(table.offsets[row + 1]))
        pairs = zip(table.targets[rows].tolist(), table.probabilities[rows, 0].tolist(), strict=True)
        return [(target + 1, p) for target, p in pairs if target < len(table.target) and p > threshold]

    def get_translation_score(self, source_word: str | int | None, target_word: str | int | None) -> float:
        target = self._number(self.target_words, target_word)
        if target <= 0:
            return 0.0
        return dict(self.get_translations(source_word)).get(target, 0.0)

    def compute_aligned_word_pair_scores(
        self, source_segment: Sequence[str], target_segment: Sequence[str], word_pairs: Collection[AlignedWordPair]
    ) -> None:
        """Score word pairs: by p(target word | source word), and by the mean posterior of both directions of the link; a
        pair with the empty word is not a link and has a posterior of 0."""
        super().compute_aligned_word_pair_scores(source_segment, target_segment, word_pairs)
        for pair in word_pairs:
            pair.alignment_score = 0.0
        linked = [pair for pair in word_pairs if pair.source_index >= 0 and pair.target_index >= 0]
        linked.sort(key=lambda pair: (pair.source_index, pair.target_index))
        points = [(pair.source_index, pair.target_index) for pair in linked]
        bitext = Bitext.of([as_line(source_segment)], [as_line(target_segment)], [points])
        posteriors = self.aligner.score(bitext, threads=1).confidences.tolist() if points else []
        for pair, posterior in zip(linked, posteriors, strict=True):
            pair.alignment_score = posterior

    @staticmethod
    def _number(words: WordVocabulary, word: str | int | None) -> int:
        return word if isinstance(word, int) else int(words.index(word))


class HyperbatonTrainer(Trainer):
    """Trains an aligner on a parallel corpus; `save` stores it in the model, and in its folder if it has one."""

    def __init__(self, model: HyperbatonWordAlignmentModel, corpus: Any) -> None:
        self._model, self._corpus = model, corpus
        self._stats = TrainStats()
        self._trained: Aligner | None = None

    def train(
        self,
        progress: Callable[[ProgressStatus], None] | None = None,
        check_canceled: Callable[[], None] | None = None,
    ) -> None:
        source, target = [], []
        with self._corpus.get_rows() as rows:
            for row in rows:
                if len(row.source_segment) and len(row.target_segment):
                    source.append(as_line(row.source_segment))
                    target.append(as_line(row.target_segment))
        stopped: list[BaseException] = []

        def report(done: int, total: int) -> bool:
            try:
                if check_canceled is not None:
                    check_canceled()
                if progress is not None:
                    progress(ProgressStatus.from_step(done, total))
            except BaseException as cause:
                stopped.append(cause)
                return False
            return True

        aligner = from_mapping(Aligner, to_mapping(self._model.options))
        try:
            self._trained = aligner.fit(Bitext.of(source, target), progress=report)
        except Cancelled:
            if stopped:
                raise stopped[0] from None
            raise
        self._stats.train_corpus_size = len(source)
        if len(aligner.logprobs_):
            self._stats.metrics["log_probability"] = float(aligner.logprobs_[-1].sum())

    def save(self) -> None:
        if self._trained is None:
            raise OptionError("nothing has been trained yet, so there is nothing to save")
        if self._model.path is not None:
            self._trained.save(self._model.path)
        self._model.use(self._trained)

    @property
    def stats(self) -> TrainStats:
        return self._stats


class HyperbatonTranslationEngine(TranslationEngine):
    """A translation system: in memory, or a folder written by `system -o` or `tune -o`.

    The confidence of a word is p(target phrase | source phrase) of its phrase, 0 for an unknown word that was copied;
    that of a translation is their mean.
    """

    def __init__(
        self,
        system: TokenTranslator | System | str | PathLike[str],
        *,
        source_tokenizer: Any = WHITESPACE_TOKENIZER,
        target_detokenizer: Any = WHITESPACE_DETOKENIZER,
    ) -> None:
        if isinstance(system, TokenTranslator):
            self.translator = system
        else:
            self.translator = TokenTranslator(system if isinstance(system, System) else System.load(system))
        self.source_tokenizer, self.target_detokenizer = source_tokenizer, target_detokenizer

    def translate(self, segment: str | Sequence[str]) -> TranslationResult:
        return self.translate_batch([segment])[0]

    def translate_n(self, n: int, segment: str | Sequence[str]) -> Sequence[TranslationResult]:
        return self.translate_n_batch(n, [segment])[0]

    def translate_batch(self, segments: Sequence[str | Sequence[str]]) -> Sequence[TranslationResult]:
        return [results[0] for results in self.translate_n_batch(1, segments)]

    def translate_n_batch(self, n: int, segments: Sequence[str | Sequence[str]]) -> Sequence[Sequence[TranslationResult]]:
        tokens = [
            list(self.source_tokenizer.tokenize(segment)) if isinstance(segment, str) else list(segment)
            for segment in segments
        ]
        translations = self.translator.translate_batch([as_line(each) for each in tokens], NBest(max(n, 1), distinct=True))
        return [self._results(translations, s, n, each) for s, each in enumerate(tokens)]

    def _results(self, translations: Translations, s: int, n: int, tokens: list[str]) -> list[TranslationResult]:
        """The best translations of sentence s; a sentence that was translated in pieces has only one."""
        pieces = range(int(translations.pieces[s]), int(translations.pieces[s + 1]))
        paths = [translations.paths(piece) for piece in pieces]
        if len(pieces) == 1 and len(paths[0]):
            return [self._result(translations, [path], pieces[0], tokens) for path in paths[0][:n]]
        return [self._result(translations, [each[0] for each in paths if len(each)], pieces[0] if pieces else 0, tokens)]

    def _result(self, translations: Translations, paths: list[int], first: int, tokens: list[str]) -> TranslationResult:
        builder = TranslationResultBuilder(tokens, self.target_detokenizer)
        scores, start = translations.system.table.scores, int(translations.batch.source.offsets[first])
        column = 2 if scores.shape[1] > 2 else 0
        for begin, end, words, links in chain.from_iterable(_phrases(translations, path) for path in paths):
            for word, pair in words:
                origin = TranslationSources.NONE if pair < 0 else TranslationSources.SMT
                builder.append_token(word, origin, 0.0 if pair < 0 else float(scores[pair, column]))
            matrix = WordAlignmentMatrix.from_word_pairs(end - begin, len(words), links)
            builder.mark_phrase(Range.create(begin - start, end - start), matrix)
        builder.set_sequence_confidence(float(np.mean(builder.confidences)) if builder.confidences else 0.0)
        return builder.to_result()


def _phrases(
    translations: Translations, path: int
) -> Iterator[tuple[int, int, list[tuple[str, int]], Sequence[tuple[int, int]]]]:
    """The source span of each phrase, its words with their rows in the table (negative for unknown words), and its links.

    A translation by rules, whose words and links may cross, is one phrase. Spans count the words of all pieces.
    """
    batch = translations.batch
    if isinstance(translations, Derivations):
        first, piece = int(translations.step_offsets[path]), int(np.searchsorted(translations.path_offsets, path, "right"))
        rules = enumerate(translations.rules(path), start=first)
        pairs = {j: int(batch.pairs[i]) for i, use in rules for j in use.target_words}
        begin, end = batch.source.offsets[[piece - 1, piece]].tolist()
        words = [(word, pairs[j]) for j, word in enumerate(translations.text[path])]
        yield begin, end, words, translations.links_of(path)
        return
    spans = batch.options.source
    for option in translations.path_options(path).tolist():
        words = [(word, int(batch.pairs[option])) for word in batch.options.target[option]]
        copied = [(0, 0)] if words and words[0][1] < 0 else []
        begin = int(batch.source.offsets[spans.sentence[option]]) + int(spans.begin[option])
        yield begin, begin + int(spans.length[option]), words, batch.options.links[option] or copied
