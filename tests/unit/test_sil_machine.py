"""Our classes where SIL Machine takes its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperbaton.align import Aligner
from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.decode import System
from hyperbaton.phrases import PhraseTable, extract

pytest.importorskip("machine.translation", reason="pip install 'hyperbaton[sil]'")

from machine.corpora import AlignedWordPair, DictionaryTextCorpus, MemoryText, TextRow
from machine.translation import (
    SymmetrizedWordAligner,
    TranslationEngine,
    TranslationSources,
    WordAligner,
    WordAlignmentModel,
    translate_corpus,
    word_align_corpus,
)

from hyperbaton.integrations.sil_machine import (
    HyperbatonTranslationEngine,
    HyperbatonWordAligner,
    HyperbatonWordAlignmentModel,
    as_line,
)


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    return generate(300, seed=1).bitext


def corpus(bitext: Bitext) -> Any:
    sides = []
    for text in (bitext.source, bitext.target):
        rows = [TextRow("text", n, words) for n, words in enumerate(text)]
        sides.append(DictionaryTextCorpus(MemoryText("text", rows)))
    return sides[0].align_rows(sides[1])


def points(matrix: Any) -> list[tuple[int, int]]:
    return [(pair.source_index, pair.target_index) for pair in matrix.to_aligned_word_pairs()]


def test_an_aligner_aligns_their_corpora(bitext: Bitext) -> None:
    aligner = Aligner().fit(bitext)
    theirs = HyperbatonWordAligner(aligner)
    assert isinstance(theirs, WordAligner)
    links = aligner.align(bitext)
    assert points(theirs.align(bitext.source[0], bitext.target[0])) == links[0]
    with word_align_corpus(corpus(bitext), theirs).get_rows() as rows:
        aligned = [[(p.source_index, p.target_index) for p in row.aligned_word_pairs] for row in rows]
    assert aligned == list(links)
    # Theirs joins two directions: the same aligner with the sides exchanged does for the other.
    backward = HyperbatonWordAligner(Aligner().fit(Bitext(bitext.target, bitext.source)))
    assert points(SymmetrizedWordAligner(theirs, backward).align(bitext.source[1], bitext.target[1]))


def test_a_model_is_trained_saved_and_asked(bitext: Bitext, tmp_path: Path) -> None:
    model = HyperbatonWordAlignmentModel(tmp_path / "aligner")
    assert isinstance(model, WordAlignmentModel)
    steps: list[float] = []
    with model.create_trainer(corpus(bitext)) as trainer:
        trainer.train(lambda status: steps.append(status.percent_completed or 0))
        trainer.save()
    assert trainer.stats.train_corpus_size == len(bitext) and steps
    with HyperbatonWordAlignmentModel(tmp_path / "aligner") as again:
        assert points(again.align(bitext.source[0], bitext.target[0])) == Aligner().fit(bitext).align(bitext)[0]
        word = bitext.source[0][0]
        best, score = max(again.get_translations(word), key=lambda pair: pair[1])
        assert again.get_translation_score(word, again.target_words[best]) == score > 0
        assert again.source_words[again.source_words.index(word)] == word.lower()
        assert again.source_words[0] == "NULL" and again.special_symbol_indices == {0}
        assert again.get_translation_score("unheard-of", "unheard-of") == 0
        assert sum(p for _, p in again.get_translations(None)) > 0.5
        pairs = again.get_best_aligned_word_pairs(bitext.source[0], bitext.target[0])
        assert all(pair.translation_score > 0 for pair in pairs)
        scores = again.aligner.score(bitext.select([0]), again.aligner.align(bitext.select([0])))
        assert [pair.alignment_score for pair in pairs] == scores.confidences.tolist()
        assert len({pair.alignment_score for pair in pairs}) == len(pairs) > 2
        unusual = [AlignedWordPair(0, 1), AlignedWordPair(-1, 0), *pairs]
        again.compute_aligned_word_pair_scores(bitext.source[0], bitext.target[0], unusual)
        assert unusual[0].alignment_score < 0.5 and unusual[1].alignment_score == 0
        assert [pair.alignment_score for pair in unusual[2:]] == scores.confidences.tolist()
        table = again.get_translation_table(0.5)
        assert word.lower() in table


def test_training_can_be_cancelled(bitext: Bitext) -> None:
    class Stop(Exception):
        pass

    def stop() -> None:
        raise Stop

    trainer = HyperbatonWordAlignmentModel().create_trainer(corpus(bitext))
    with pytest.raises(Stop):
        trainer.train(check_canceled=stop)


def test_a_system_translates_their_corpora(bitext: Bitext) -> None:
    system = System.of(PhraseTable.build(bitext, extract(bitext, 4)))
    engine = HyperbatonTranslationEngine(system)
    assert isinstance(engine, TranslationEngine)
    source = bitext.source[0]
    result = engine.translate([*source, "Unknown"])
    assert result.source_tokens == [*source, "Unknown"] and result.translation == " ".join(result.target_tokens)
    assert result.phrases[-1].target_segment_cut == len(result.target_tokens)
    covered = sorted(i for p in result.phrases for i in range(p.source_segment_range.start, p.source_segment_range.end))
    assert covered == list(range(len(source) + 1))
    unknown = result.target_tokens.index("Unknown")
    assert result.sources[unknown] == TranslationSources.NONE and result.alignment[len(source), unknown]
    assert all(0 <= confidence <= 1 for confidence in result.confidences)
    best = engine.translate_n(3, source)
    assert len(best) == 3 and best[0].translation == engine.translate(" ".join(source)).translation
    assert engine.translate("").translation == ""
    with translate_corpus(corpus(bitext.select(range(5))), engine).get_rows() as rows:
        assert all(len(row.target_segment) for row in rows)


def test_odd_tokens_keep_their_places() -> None:
    assert as_line(["a b", "", "\t", "|||"]).split(" ") == ["a_b", "_", "_", "|-|"]
