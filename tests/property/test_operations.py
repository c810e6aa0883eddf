"""Operation sequences against a walk over plain sets: of sentence pairs, and of what the search has translated."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.corpus import Bitext
from hyperbaton.data import generate
from hyperbaton.decode import Decoding, NBest, System, TokenTranslator
from hyperbaton.models.osm import OperationSequence, operation_text
from hyperbaton.phrases import PhraseTable, extract
from tests.oracles import decode, operations


@st.composite
def linked_pairs(draw: st.DrawFn) -> tuple[list[str], list[str], list[tuple[int, int]]]:
    source = draw(st.lists(st.sampled_from("abcde"), min_size=1, max_size=9))
    target = draw(st.lists(st.sampled_from("abxyz"), min_size=1, max_size=9))
    points = st.tuples(st.integers(0, len(source) - 1), st.integers(0, len(target) - 1))
    return source, target, sorted(draw(st.sets(points, max_size=12)))


@given(st.lists(linked_pairs(), min_size=1, max_size=3))
def test_operations_of_sentence_pairs(pairs: list[tuple[list[str], list[str], list[tuple[int, int]]]]) -> None:
    bitext = Bitext.of([" ".join(s) for s, _, _ in pairs], [" ".join(t) for _, t, _ in pairs], [x for _, _, x in pairs])
    alone = operations.singletons(iter(pairs))
    assert list(operation_text(bitext)) == [operations.pair_operations(*pair, alone) for pair in pairs]


def test_the_search_scores_the_operations_of_what_it_translates() -> None:
    """Long sentences in any order: the sum over steps is that of the finished translation, with any lookups in
    between."""
    made = generate(150, style="japanese", seed=3).bitext
    train = made.select(np.arange(140))
    model = OperationSequence(order=4).fit(train)
    table = PhraseTable.build(train, extract(train, 4))
    # Weights that like gaps and long jumps.
    weights = {"OSM": [0.2, -0.1, 0.6, 0.3, 0.3], "Distortion0": -0.3}
    system = System.of(table, (), {"OSM": model}, weights)
    options = Decoding(distortion_limit=-1, pop_limit=150, table_limit=5)
    lines = [" ".join(made.source[s]) for s in range(140, 150)]
    translations = TokenTranslator(system, options, threads=1).translate_batch(lines, NBest(20))
    lm = model.lms_[0]
    jumps = 0
    for path in range(len(translations.scores)):
        sentence = int(np.searchsorted(translations.path_offsets, path, side="right")) - 1
        words = lines[sentence].split()
        walk = operations.Walk()
        for step, option in zip(
            translations.steps(path), translations.options[translations.step_offsets[path] :], strict=False
        ):
            links = [tuple(link) for link in translations.batch.options.links[int(option)]]
            known = translations.batch.pairs[option] >= 0
            walk.phrase(words, step.begin, step.end, step.target if known else ["_TRANS_SLF_"], links)
        logprobs, _ = lm.score_words([" ".join(walk.operations)])
        expected = [float(logprobs[:-1].sum()) / np.log(10), *walk.counts]
        values = translations.named(translations.totals[path])
        assert values["OSM"] == pytest.approx(expected, abs=1e-3)
        assert decode.dot(values, system.weights) == pytest.approx(translations.scores[path], abs=1e-3)
        jumps += sum(name.startswith("_JMP_BCK_") and name != "_JMP_BCK_1" for name in walk.operations)
    assert jumps > 50, "the sentences are too simple"


def test_cached_phrase_pairs_belong_to_their_table_and_model() -> None:
    """Two tables number their pairs alike: one model with both in turn, then trained again, scores as new ones do."""
    made = generate(120, style="japanese", seed=5).bitext
    parts = [made.select(np.arange(0, 50)), made.select(np.arange(50, 100))]
    tables = [PhraseTable.build(part, extract(part, 4)) for part in parts]
    lines = [" ".join(made.source[s]) for s in range(100, 120)]

    def scores(model: OperationSequence, table: PhraseTable, threads: int = 1) -> list[float]:
        translator = TokenTranslator(System.of(table, (), {"OSM": model}), Decoding(pop_limit=50), threads=threads)
        return [float(score) for batch in translator.batches(lines, batch_size=7) for score in batch.scores]

    new = [[scores(OperationSequence().fit(part), table) for table in tables] for part in parts]
    model = OperationSequence().fit(parts[0])
    assert [scores(model, tables[i]) for i in (0, 1, 0)] == [new[0][i] for i in (0, 1, 0)]
    assert scores(model, tables[0], threads=3) == new[0][0]
    assert scores(model.fit(parts[1]), tables[0]) == new[1][0]
