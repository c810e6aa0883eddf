"""Collect the data of a run for the page, as plain values.

The sentences are translated again, as in the run, with n-best lists and the expectations of each reordering model. Each
sentence has an entry for every system in `translations`, the object that `/v1/translate` returns for a sentence, with
these additions:

    scores          of the sentence, by metric
    order_loss      fraction of pairs of source words whose order differs from the reference (0 is the same order)
    verdict         reference, model_error, search_error or beyond_limit; missing if the reference cannot be reached

`disagreement` of a sentence is the mean of this loss over all pairs of systems. `corpora` are jumps between consecutively
translated words: of the training text, the test reference, and each system.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from hyperbaton.align import VisitOrders, visit_order
from hyperbaton.base.errors import InputError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Links, Text
from hyperbaton.decode import NBest, TokenTranslator
from hyperbaton.decode.diagnose import Judge
from hyperbaton.evaluate.word_order import disagreements, order_losses
from hyperbaton.explore.run import Run, TestOutput
from hyperbaton.explore.sentence import sentence_object
from hyperbaton.metrics import make_metric
from hyperbaton.run.stages.movement import count_jumps

Objects = list[JsonObject]
_BATCH = 16  # sentences between two reports of progress
# Letters that identify a language: kana, hangul, and otherwise Chinese characters.
_SCRIPTS = {"ja": re.compile("[ぁ-ヺ]"), "ko": re.compile("[가-힣]"), "zh": re.compile("[㐀-鿿]")}


@dataclass(frozen=True)
class PageSelection:
    """What to show of a run.

    Arguments:
        systems: the systems shown; all if empty.
        sentences: number of test sentences, from the first; 0 takes all.
        limit: distortion limit of the translations, or None for that of the report.
        n_best: number of translations of each sentence.
        judged: distinguish model errors from search errors, which translates everything two more times.
    """

    systems: tuple[str, ...] = ()
    sentences: int = 100
    limit: int | None = None
    n_best: int = 3
    judged: bool = True


def collect(
    run: Run,
    selection: PageSelection | None = None,
    *,
    others: Sequence[Run] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> JsonObject:
    """The data of the page of a run.

    Arguments:
        others: runs whose jumps (of texts and systems) can be compared with those of this run.
    """
    selection = selection or PageSelection()
    names = list(selection.systems) or run.systems
    if not names:
        raise InputError("the run has no translation systems to explore", run.root)
    outputs = [run.output(name, selection.limit) for name in names]
    n = min(len(run.source), selection.sentences or len(run.source))
    sentences = _sentences(run, n)
    resources = Resources.of(threads, progress)
    for number, output in enumerate(outputs):
        part = resources.part(number, of=len(outputs))
        for sentence, translation in zip(sentences, _translations(run, output, sentences, selection, part), strict=True):
            sentence["translations"][output.system] = translation
    _compare_orders(sentences, names, visit_order(run.links).select(range(n)))
    metrics = [make_metric(name) for name in run.metrics]
    return {
        "format": 1,
        "package": version("hyperbaton"),
        "title": run.title,
        "languages": _languages(run, outputs[0]),
        "n_sentences": len(run.source),
        "metrics": {metric.title: metric.higher_is_better for metric in metrics},
        "systems": [_system(run, output) for output in outputs],
        "sentences": sentences,
        "corpora": corpora(run, outputs) + [row for other in others for row in _corpora_of_other(other)],
    }


def _languages(run: Run, output: TestOutput) -> dict[str, str]:
    """The language code of each side, from the system's text processing or else from the script; empty if unknown."""
    system, _ = run.load(output)
    sides = {"source": run.source, "target": run.target}
    languages = {side: "" if system.text is None else getattr(system.text, side).language for side in sides}
    return {side: languages[side] or language_by_script(text.vocabulary.words()) for side, text in sides.items()}


def language_by_script(words: Iterable[str]) -> str:
    """The language of words by their script, for languages with Chinese characters or hangul; empty for others.

    >>> [language_by_script(words) for words in (["京都", "の"], ["京都", "的"], ["한국"], ["Kyoto"])]
    ['ja', 'zh', 'ko', '']
    """
    text = "".join(words)
    return next((language for language, letters in _SCRIPTS.items() if letters.search(text)), "")


def _sentences(run: Run, n: int) -> Objects:
    """The sentences without translations."""
    orders = visit_order(run.links)
    sentences = []
    for s in range(n):
        reference = {"target": run.target[s], "links": [list(link) for link in run.links[s]], "order": orders[s]}
        sentence = {"id": s + 1, "source": run.source[s], "reference": reference, "translations": {}}
        sentences.append(sentence if run.tags is None else sentence | {"tags": run.tags[s]})
    return sentences


def _translations(
    run: Run, output: TestOutput, sentences: Objects, selection: PageSelection, resources: Resources
) -> Objects:
    """The first sentences as translated by a system."""
    system, options = run.load(output)
    translator = TokenTranslator(system, options, threads=resources.threads)
    judge = Judge(system, options, threads=resources.threads) if selection.judged else None
    annotations = run.texts.for_decoder("test", output.columns)
    lines = run.texts.lines("test", "source")
    scores = run.scores(output)
    objects: Objects = []
    for first in range(0, len(sentences), _BATCH):
        numbers = range(first, min(first + _BATCH, len(sentences)))
        batch, notes = [lines[s] for s in numbers], annotations.select(np.array(numbers))
        translations = translator.translate_batch(batch, NBest(max(selection.n_best, 1), distinct=True), annotations=notes)
        references = [sentences[s]["reference"] for s in numbers]
        targets = [" ".join(reference["target"]) for reference in references]
        judgements = judge.judge(batch, targets, translations, notes) if judge is not None else [None] * len(batch)
        for piece, (s, reference, judgement) in enumerate(zip(numbers, references, judgements, strict=True)):
            order = reference["order"]
            record = sentence_object(translations, piece, n_best=selection.n_best, expected=True, reference=order)
            del record["source"]  # it is the same for all systems
            record["scores"] = {name: values[s] for name, values in scores.items()}
            if judgement is not None:
                record["verdict"] = judgement.verdict
            objects.append(record)
        resources.report(len(objects), len(sentences))
    return objects


def _compare_orders(sentences: Objects, systems: Sequence[str], reference: VisitOrders) -> None:
    """Add how much the orders of the systems differ from the reference, and from each other."""
    orders = []
    for name in systems:
        links = (sentence["translations"][name]["links"] for sentence in sentences)
        orders.append(visit_order(Links.of([[(link["source"], link["target"]) for link in row] for row in links])))
        for sentence, loss in zip(sentences, order_losses(orders[-1], reference).tolist(), strict=True):
            sentence["translations"][name]["order_loss"] = round(loss, 4)
    for sentence, mean in zip(sentences, disagreements(orders).tolist(), strict=True):
        sentence["disagreement"] = round(mean, 4)


def _system(run: Run, output: TestOutput) -> JsonObject:
    return {
        "name": output.system,
        "models": list(run.models[output.system]),
        "limit": None if output.limit < 0 else output.limit,
        "weights": {name: [round(weight, 5) for weight in values] for name, values in run.weights(output).items()},
        "scores": {name: round(score, 2) for name, score in run.system_scores(output).items()},
    }


def corpora(run: Run, outputs: Sequence[TestOutput]) -> Objects:
    """Jumps between words, in the texts of a run and in the translations of its systems."""
    texts = [("training text", "reference", run.movement)]
    texts.append(("test reference", "reference", count_jumps(run.source, run.links, run.tags)))
    for output in outputs:
        links = Links.read(output.folder / "links", run.source, Text.read(output.folder / "hypotheses"))
        texts.append((output.system, "system", count_jumps(run.source, links, run.tags)))
    rows = []
    for name, kind, counts in texts:  # by tag, jumps of more than 5 words count as 5
        by_distance = {str(-int(distortion)): n for distortion, n in counts["word_distortions"].items()}
        tags = counts.get("jumps_by_tag", {})
        by_tag = {tag: {str(1 - int(jump)): n for jump, n in jumps.items()} for tag, jumps in tags.items()}
        rows.append({"name": name, "kind": kind, "distances": by_distance, "by_tag": by_tag})
    return rows


def _corpora_of_other(run: Run) -> Objects:
    """The jumps of another run, with all its systems, under names that include the run's."""
    rows = corpora(run, [run.output(name) for name in run.systems])
    return [row | {"name": f"{run.root.name}: {row['name']}"} for row in rows]
