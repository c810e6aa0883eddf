"""Details of the translation of a sentence, as plain values: shown by the page, returned by `/v1/translate`."""

from __future__ import annotations

from hyperbaton.base.forms import JsonObject
from hyperbaton.corpus import Bitext
from hyperbaton.decode.raw import SearchResult
from hyperbaton.explore import sentence_object
from hyperbaton.serve.engine import Engine


def sentence_details(engine: Engine, searched: SearchResult, *, n_best: int = 0, expected: bool = False) -> JsonObject:
    """The object of a sentence as in the page of a run, with its tags if there are any, and texts in addition to tokens.

    `confidence` of a link is the aligner's mean posterior or, without an aligner, the phrase table's p(target | source)
    of its phrase.
    """
    record = sentence_object(
        searched.found, searched.piece, n_best=n_best, expected=expected, confidences=_confidences(engine, searched)
    )
    copied = searched.sentence.copied
    for side, tokens in (("source", searched.sentence.tokens), ("target", record["target"])):
        record[side] = [copied.get(token, token) for token in tokens]
    record |= {"text": _text(engine, searched, searched.paths[:1])}
    if any(searched.sentence.labels):
        record["tags"] = searched.sentence.labels
    for n, other in enumerate(record.get("nbest", [])):
        other["text"] = _text(engine, searched, searched.paths[n : n + 1])
    return record


def _text(engine: Engine, searched: SearchResult, paths: range) -> str:
    return "".join(engine.raw.write_sentence(searched.sentence, searched.translated(path)) for path in paths)


def _confidences(engine: Engine, searched: SearchResult) -> dict[tuple[int, int], float] | None:
    """The aligner's mean posteriors of the links of the best translation, if there is an aligner."""
    tokens = searched.best.tokens
    if engine.aligner is None or not tokens or not searched.sentence.tokens:
        return None
    bitext = Bitext.of([searched.sentence.line], [" ".join(tokens)])
    return engine.aligner.posteriors(bitext, 1e-6, threads=1).means(0)
