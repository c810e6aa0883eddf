"""Details of the translation of a sentence, as plain values: shown by the page, returned by `/v1/translate`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hyperbaton.base import numeric
from hyperbaton.base.forms import JsonObject
from hyperbaton.decode import Translations
from hyperbaton.decode.records import Confidences, path_record, piece_record, rounded
from hyperbaton.evaluate.expectations import Visits, add_reasons, add_reference, expectations

N_REASONS = 3


def sentence_object(
    translations: Translations,
    piece: int,
    *,
    n_best: int = 0,
    expected: bool = False,
    reference: Sequence[int] | None = None,
    confidences: Confidences | None = None,
) -> JsonObject:
    """A sentence and its translation (`piece_record`), and requested details.

    `confidence` of the translation is its share of the probability mass of the n-best list.

    Arguments:
        piece: the number of the sentence in the search.
        n_best: return up to this many translations in `nbest`, the best one first.
        expected: return what each reordering model expected at every phrase in `expectations`.
        reference: the source words in the visit order of a reference, to be included in expectations.
    """
    record, paths = piece_record(translations, piece, confidences), translations.paths(piece)
    if not paths:
        return record
    if n_best:
        scores = np.asarray(translations.scores[paths.start : paths.stop], np.float64)
        shares = numeric.exp(numeric.log_softmax(scores)).tolist()
        record["confidence"] = rounded(shares[0])
        record["nbest"] = [
            path_record(translations, path) | {"confidence": rounded(share)}
            for path, share in zip(paths[:n_best], shares[:n_best], strict=True)
        ]
    if expected:
        expected_steps = expectations(translations, piece, paths[0])
        add_reasons(translations, piece, paths[0], expected_steps, N_REASONS)
        if reference is not None:
            add_reference(translations.system, expected_steps, Visits(list(reference), len(record["source"])))
        record["expectations"] = expected_steps
    return record
