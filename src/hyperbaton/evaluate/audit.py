"""Word order and coverage of translations by any system, judged through word links to the source.

An aligner links the source with the reference and with each system's text; nothing else is needed from the systems.

**Movements.** The words that two texts both translate are numbered in source order, so that words without links leave no
gaps. A text that visits word j after word i moves by d = i + 1 − j (d < 0 forward, d > 0 back, 0 is no movement). Another
text *makes* this movement if it reaches the same word in the same direction, at least half and at most twice as far. Recall
is the share of the reference's movements that the system makes, precision the share of the system's that the reference
makes.

**Moved phrases.** The longest set of words that both texts visit in the same order stays in place. Runs of the other words
are moved phrases, with the number of words that they passed: > 0 if the phrase comes later than in the reference.

**Coverage.** The *gap* of a word is 1 − the mean posterior of its best link. Function words have gaps in good translations
too: a source word is untranslated, and a word of a text added, if its gap exceeds the mean gap of the same word in the
reference by `SURPRISE`. The same rule, applied to the reference with the word itself left out of the mean, measures the
aligner's error. An untranslated word is missing if its gap also exceeds its gap in the reference by that much.

**Jumps.** A jump model gives log p(next source word | current one, visited words) for each visit order, without reference.
The means of the sentences of a calibration text say which values are usual.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import Any, ClassVar, NamedTuple

import numpy as np

from hyperbaton.align import Aligner, VisitOrders, WordAligner, visit_order
from hyperbaton.align.prior import check_languages
from hyperbaton.base.arrays import Array, offsets_of
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.base.numeric import exp
from hyperbaton.base.progress import Progress
from hyperbaton.base.resources import Resources
from hyperbaton.base.shown import Display
from hyperbaton.corpus import Annotations, Bitext, Links, SentencePair, Text
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.bitext import check_same_length, refuse_empty
from hyperbaton.corpus.text import joined
from hyperbaton.evaluate.next_position import scored_jumps
from hyperbaton.evaluate.word_order import disagreements, order_losses
from hyperbaton.metrics import Metric, Orders, Outputs, Statistics, compare, estimate, holm, make_metric
from hyperbaton.models import NextPositionModel
from hyperbaton.phrases.samples import FOUR, optional_package

METRICS = ("bleu", "chrf", "ter", "ribes", "kendall", "fuzzy_reordering", "pdscore")
REFERENCE = "reference"
SURPRISE = 0.4  # by which the gap of an untranslated or added word exceeds the expected gap
LONG = 3  # passed words from which a moved phrase is a long move; others are swapped neighbours
UNUSUAL = 5.0  # percentile of the calibration text below which the order of a sentence is unusual
LEVEL = 0.05  # p below which a value differs from that of the reference
BANDS = {"1–2": 2, "3–5": 5, "6–10": 10, "11+": 1 << 16}  # of |d|, with the farthest distance of each
FEWEST = 5  # movements of the reference by words of a tag that are worth a row
_PRIOR = 2.0  # pseudo-count of the mean gap of words that occur once


class Share(Metric):
    """100 · part / whole, of statistics (part, whole)."""

    title: ClassVar = "share"

    def statistics(self, outputs: Outputs) -> Statistics:
        raise NotImplementedError

    def score(self, sums: Statistics) -> Array:
        return np.asarray(100 * sums[..., 0] / np.maximum(sums[..., 1], 1e-9))


class FaultShare(Share):
    """A share where lower is better."""

    higher_is_better: ClassVar = False


class Moved(NamedTuple):
    """Source words in another place than in the reference, and the number of words that they passed."""

    words: list[int]
    passed: int


@dataclass(frozen=True)
class LinkedText:
    """A text linked to the source; `confidences` are mean posteriors of its links, `gaps` those of words of both sides."""

    name: str
    text: Text
    links: Links
    confidences: Array
    orders: VisitOrders
    gaps: tuple[Array, Array]

    @classmethod
    def of(cls, name: str, source: Text, text: Text, aligner: Aligner, resources: Resources) -> LinkedText:
        """Link a text to the source."""
        bitext = Bitext(source, text)
        links = aligner.align(bitext, threads=resources.threads, progress=resources.progress)
        posteriors = aligner.posteriors(bitext, threads=resources.threads)
        means = posteriors.values.mean(axis=1, dtype=np.float64)
        gaps = np.ones(source.n_tokens), np.ones(text.n_tokens)
        for column, (side, gap) in enumerate(zip((source, text), gaps, strict=True)):
            np.minimum.at(gap, _tokens(side, posteriors.links, column), 1 - means)
        keys, wanted = ((_tokens(source, of, 0) << 16) | of.points[:, 1] for of in (posteriors.links, links))
        at = np.searchsorted(keys, wanted)
        confidences = np.append(means, 0)[np.where(np.append(keys, -1)[at] == wanted, at, len(keys))]
        return cls(name, text, links, confidences, visit_order(links, threads=resources.threads), gaps)


@dataclass(frozen=True)
class JumpFit:
    """Mean log p of the jumps of each sentence of a text (NaN without a link), their number, and the worst one.

    A worst jump has `current` and `next` word (−1 is the start, n the end), `probability`, and `expected`: words with a
    higher one.
    """

    means: Array
    n_jumps: Array
    worst: dict[int, JsonObject]

    @classmethod
    def of(cls, model: NextPositionModel, source: Text, orders: VisitOrders, annotations: Annotations) -> JumpFit:
        """Score the visit orders of a text."""
        means, n_jumps, worst = np.full(len(source), np.nan), np.zeros(len(source), np.int64), {}
        for part in scored_jumps(model, source, orders, annotations):
            logprobs, n = part.remaining[part.starts + part.jumps.next], np.bincount(part.jumps.sentence)
            means[part.sentences], n_jumps[part.sentences] = np.bincount(part.jumps.sentence, logprobs) / n, n
            ends = offsets_of(n)
            for k, s in enumerate(part.sentences.tolist()):
                at = int(ends[k] + logprobs[ends[k] : ends[k + 1]].argmin())
                row = exp(part.remaining[part.starts[at] : part.starts[at] + part.logprobs.lengths[k] + 1])
                current, chosen = int(part.jumps.current[at]), int(part.jumps.next[at])
                expected = [(j, round(float(row[j]), 4)) for j in (-row).argsort()[:2].tolist() if row[j] > row[chosen]]
                probability = round(float(row[chosen]), 4)
                worst[s] = {"current": current, "next": chosen, "probability": probability, "expected": expected}
        return cls(means, n_jumps, worst)


@dataclass(frozen=True)
class AuditedSentence:
    """A sentence, its texts by name (words, links with confidences) and the findings of each system.

    A notebook draws the links and phrases of each text.
    """

    line: int
    source: list[str]
    texts: dict[str, JsonObject]
    findings: dict[str, JsonObject]
    disagreement: float

    def _repr_html_(self) -> str:
        pairs = {
            name: SentencePair(self.source, of["words"], [(i, j) for i, j, _ in of["links"]])
            for name, of in self.texts.items()
        }
        return "".join(f"<h4>{escape(name)}</h4>{pair._repr_svg_()}" for name, pair in pairs.items())


@dataclass(repr=False)
class Audit(Display):
    """The result of `audit`: `measures` and `movements` of the systems as plain values, and each sentence with findings.

    `known` are the shares of source and target words that the aligner knows, `usual` the sorted means of log p of the
    sentences of the calibration text, `fits` the jumps by text.
    """

    source: Text
    reference: LinkedText | None
    systems: list[LinkedText]
    fits: dict[str, JumpFit]
    usual: Array
    known: tuple[float, float]

    def __post_init__(self) -> None:
        self.texts = [*([] if self.reference is None else [self.reference]), *self.systems]
        self.measures: list[JsonObject] = []
        self.movements: list[JsonObject] = []

    def facts(self) -> dict[str, object]:
        """The size, and the value of each measure for all systems."""
        values = {row["measure"]: [f"{of['value']:.2f}" for of in row["systems"].values()] for row in self.measures}
        return {"sentences": len(self), "systems": [system.name for system in self.systems], **values}

    def __len__(self) -> int:
        return len(self.source)

    def __getitem__(self, sentence: int) -> AuditedSentence:
        texts: dict[str, JsonObject] = {}
        for linked in self.texts:
            sure = linked.confidences[slice(*linked.links.offsets[sentence : sentence + 2])].round(2).tolist()
            links = [[i, j, p] for (i, j), p in zip(linked.links[sentence], sure, strict=True)]
            texts[linked.name] = {"words": linked.text[sentence], "links": links}
        findings = {system.name: self._finding(k, sentence) for k, system in enumerate(self.systems)}
        differ = round(float(self.disagreement[sentence]), 4)
        return AuditedSentence(sentence + 1, self.source[sentence], texts, findings, differ)

    @cached_property
    def losses(self) -> list[Array]:
        """For each system and sentence, the fraction of pairs of source words in another order than in the reference."""
        reference = self.reference
        return [] if reference is None else [order_losses(system.orders, reference.orders) for system in self.systems]

    @cached_property
    def disagreement(self) -> Array:
        """For each sentence, how much the orders differ: of the systems from each other, of a single one from the
        reference, or without a reference from what the jump model expects."""
        if len(self.systems) > 1:
            return disagreements([system.orders for system in self.systems])
        return self.losses[0] if self.losses else np.nan_to_num(-self.fits[self.systems[0].name].means)

    def surprises(self, linked: LinkedText, side: int) -> Array:
        """By how much the gaps of the source words (side 0), or of a text's own words (1), exceed the expected ones."""
        judges = self.systems if self.reference is None else [self.reference]
        texts = [self.source if side == 0 else one.text for one in (*judges, linked)]
        words = joined(texts)
        gaps = np.concatenate([judge.gaps[side] for judge in judges])
        numbers, n_words = words.tokens[: len(gaps)], len(words.vocabulary)
        counts, sums = np.bincount(numbers, minlength=n_words), np.bincount(numbers, gaps, n_words)
        once = gaps[counts[numbers] == 1]
        prior = _PRIOR * (once.mean() if len(once) else gaps.mean())
        here = words.tokens[len(gaps) :]
        without = linked.gaps[side] if linked is self.reference else 0.0  # the word itself does not count
        means = (sums[here] - without + prior) / (counts[here] - (linked is self.reference) + _PRIOR)
        return np.asarray(linked.gaps[side] - means)

    @cached_property
    def missing(self) -> list[Array]:
        """For each system, by how much the gap of each source word exceeds the expected one and that in the reference."""
        others = np.zeros(self.source.n_tokens) if self.reference is None else self.reference.gaps[0]
        return [np.minimum(self.surprises(system, 0), system.gaps[0] - others) for system in self.systems]

    @cached_property
    def added(self) -> list[Array]:
        """For each system, by how much the gap of each of its words exceeds the expected one."""
        return [self.surprises(system, 1) for system in self.systems]

    def moved(self, system: int, sentence: int) -> list[Moved]:
        """The moved phrases of a sentence."""
        if self.reference is None:
            return []
        return moved_phrases(self.reference.orders[sentence], self.systems[system].orders[sentence])

    def _finding(self, k: int, s: int) -> JsonObject:
        """The findings of a system in a sentence, with positions from 0."""
        system, fit = self.systems[k], self.fits.get(self.systems[k].name)
        finding: JsonObject = {"moved": [moved._asdict() for moved in self.moved(k, s)]}
        for kind, values, text in (("missing", self.missing[k], self.source), ("added", self.added[k], system.text)):
            surprises = values[slice(*text.offsets[s : s + 2])]
            finding[kind] = [(w, round(float(surprises[w]), 2)) for w in np.flatnonzero(surprises >= SURPRISE).tolist()]
        if self.losses:
            finding["order_loss"] = round(float(self.losses[k][s]), 4)
        if fit is not None and s in fit.worst:
            finding |= {"logprob": round(float(fit.means[s]), 4), "worst": fit.worst[s]}
            if len(self.usual):  # percentage of sentences of the calibration text whose order is less probable
                finding["percentile"] = round(100 * float(np.searchsorted(self.usual, fit.means[s])) / len(self.usual), 1)
        return finding

    def rows(self) -> Iterator[JsonObject]:
        """A row for each sentence and system: counts of findings, and their words; plain values."""
        for sentence in (self[s] for s in range(len(self))):
            words, names = sentence.source, ["BOS", *sentence.source, "EOS"]
            for name, finding in sentence.findings.items():
                own, passed = sentence.texts[name]["words"], [abs(moved["passed"]) for moved in finding["moved"]]
                row: JsonObject = {"line": sentence.line, "system": name, "disagreement": sentence.disagreement}
                row |= {key: finding.get(key) for key in ("order_loss", "logprob", "percentile")}
                row |= {"long_moves": sum(n >= LONG for n in passed), "swaps": sum(n < LONG for n in passed)}
                row |= {kind: len(finding[kind]) for kind in ("missing", "added")}
                row["moved_words"] = [
                    f"{' '.join(words[i] for i in m['words'])} {m['passed']:+d}" for m in finding["moved"]
                ]
                row["missing_words"] = [words[i] for i, _ in finding["missing"]]
                row["added_words"] = [own[j] for j, _ in finding["added"]]
                worst = finding.get("worst")
                row["worst_jump"] = [names[worst[at] + 1] for at in ("current", "next")] if worst else []
                row["expected_words"] = [names[j + 1] for j, _ in worst["expected"]] if worst else []
                yield row

    def to_pandas(self) -> Any:
        """A DataFrame of `rows`; needs pandas."""
        return optional_package("pandas").DataFrame(list(self.rows()))

    def as_json(self) -> JsonObject:
        """The tables as plain values."""
        return {"sentences": len(self), "known_words": self.known, "measures": self.measures, "movements": self.movements}


def _tokens(text: Text, rows: Links, column: int) -> Array:
    """The number in the text of the word of each link."""
    return np.asarray(np.repeat(text.offsets[:-1], np.diff(rows.offsets)) + rows.points[:, column])


def moved_phrases(reference: Sequence[int], order: Sequence[int]) -> list[Moved]:
    """The phrases that an order of visits has in another place than the reference, by the words that both visit.

    >>> moved_phrases([0, 1, 2, 3, 4, 5], [2, 3, 4, 5, 0, 1])
    [Moved(words=[0, 1], passed=4)]
    >>> moved_phrases([0, 1, 2], [1, 0, 2])
    [Moved(words=[1], passed=-1)]
    """
    common = set(reference).intersection(order)
    rank = {word: r for r, word in enumerate(word for word in reference if word in common)}
    words = [word for word in order if word in common]
    ranks = [rank[word] for word in words]
    # The longest increasing subsequence: `places[n]` is where the one of n + 1 ranks with the smallest last rank ends.
    ends, places, before = list[int](), list[int](), list[int]()
    for place, r in enumerate(ranks):
        at = bisect_left(ends, r)
        ends[at : at + 1], places[at : at + 1] = [r], [place]
        before.append(places[at - 1] if at else -1)
    fixed, place = set[int](), places[-1] if places else -1
    while place >= 0:
        fixed.add(place)
        place = before[place]
    stays, n_before, moved = sorted(ranks[place] for place in fixed), 0, list[Moved]()
    for place, r in enumerate(ranks):
        if place in fixed:
            n_before += 1
        elif moved and place - 1 not in fixed and ranks[place - 1] + 1 == r:
            moved[-1].words.append(words[place])
        else:
            moved.append(Moved([words[place]], n_before - bisect_left(stays, r)))
    return moved


def common_steps(source: Text, first: VisitOrders, second: VisitOrders) -> tuple[Array, Array, Array]:
    """The source words that two texts both visit, and their distances d in each, counted in such words.

    >>> first, second = (visit_order(Links.of([[(0, 0), (1, j), (2, 1)]])) for j in (0, 2))
    >>> [column.tolist() for column in common_steps(Text.of(["a b c"]), first, second)]
    [[0, 1, 2], [0, 0, 0], [0, 2, -1]]
    """
    visits = [np.repeat(source.offsets[:-1], np.diff(v.offsets)) + v.positions for v in (first, second)]
    common = np.all([np.bincount(visited, minlength=source.n_tokens) > 0 for visited in visits], axis=0)
    ranks, owner = offsets_of(common), np.repeat(np.arange(len(source)), source.lengths)
    distances = np.zeros((2, source.n_tokens), np.int64)
    for d, visited in zip(distances, visits, strict=True):
        kept = visited[common[visited]]
        after, sentence = np.append(0, ranks[kept] + 1)[:-1], owner[kept]
        begins = np.append(-1, sentence)[:-1] != sentence
        d[kept] = np.where(begins, ranks[source.offsets[sentence]], after) - ranks[kept]
    token = np.flatnonzero(common)
    return token, distances[0, token], distances[1, token]


def same_movement(first: Array, second: Array) -> Array:
    """Whether two movements of a word are the same: one direction, at least half and at most twice as far."""
    near, far = np.sort(np.abs([first, second]), axis=0)
    return np.asarray((np.sign(first) == np.sign(second)) & (2 * near >= far))


def _movements(audited: Audit, reference: LinkedText, annotations: Annotations) -> Iterator[JsonObject]:
    """Recall and precision of the systems by distance, by class and by tag."""
    tags, ends = annotations.source_tags, np.array([*BANDS.values()])
    bands = [f"{way} {band}" for way in ("forward", "back") for band in BANDS]
    names = {"distance": bands, "class": [*FOUR]}
    if tags is not None:
        names["tag"] = [f"{tag} {band}" for tag in tags.vocabulary.words() for band in bands]

    def count(token: Array, d: Array) -> dict[str, Array]:
        token, d = token[d != 0], d[d != 0]
        band = np.searchsorted(ends, np.abs(d)) + len(ends) * (d > 0)
        groups = {"distance": band, "class": np.where(d < 0, 3, np.where(d == 2, 1, 2))}
        if tags is not None:
            groups["tag"] = tags.labels[token].astype(np.int64) * len(bands) + band
        return {by: np.bincount(group, minlength=len(names[by])) for by, group in groups.items()}

    shares: dict[str, dict[str, dict[str, Array]]] = {}
    for system in audited.systems:
        token, *steps = common_steps(audited.source, reference.orders, system.orders)
        made = same_movement(*steps)
        for title, d in zip(("recall", "precision"), steps, strict=True):
            right, every = count(token[made], d[made]), count(token, d)
            shares.setdefault(system.name, {})[title] = {by: 100 * right[by] / np.maximum(every[by], 1) for by in names}
    every = count(*common_steps(audited.source, reference.orders, reference.orders)[:2])
    for by, of in names.items():
        for group in np.argsort(-every[by], kind="stable") if by == "tag" else np.arange(len(of)):
            if every[by][group] >= (FEWEST if by == "tag" else 1):
                values = {name: {title: v[by][group] for title, v in share.items()} for name, share in shares.items()}
                yield {"by": by, "movement": of[group], "n": int(every[by][group]), "systems": values}


def _statistics(audited: Audit) -> Iterator[tuple[str, Metric, dict[str, Statistics]]]:
    """Title, metric, and statistics by text of each measure; those of the reference too if they are a yardstick."""
    source, reference, systems = audited.source, audited.reference, audited.systems

    def pairs(text: Text, part: Array, whole: Array) -> Statistics:
        return np.stack([np.diff(offsets_of(np.asarray(part, np.float64))[text.offsets]), whole], axis=1)

    def surprising(text: Text, surprises: Array) -> Statistics:
        return pairs(text, surprises >= SURPRISE, text.lengths)

    if reference is not None:
        lines = [linked.text.lines() for linked in audited.texts]
        orders = [Orders(linked.orders.positions, linked.orders.offsets) for linked in audited.texts]
        outputs = [
            Outputs.of(text, lines[0], orders=order, reference_orders=orders[:1])
            for text, order in zip(lines[1:], orders[1:], strict=True)
        ]
        for metric in map(make_metric, METRICS):
            yield metric.title, metric, {s.name: metric.statistics(of) for s, of in zip(systems, outputs, strict=True)}
        lengths = reference.text.lengths
        yield "length %", Share(), {s.name: np.stack([s.text.lengths, lengths], axis=1) for s in systems}
        moves: dict[str, dict[str, Statistics]] = {"movement recall %": {}, "movement precision %": {}}
        for system in systems:
            token, *steps = common_steps(source, reference.orders, system.orders)
            made, columns = same_movement(*steps), np.zeros((2, source.n_tokens))
            for column, d in zip(moves.values(), steps, strict=True):
                columns[0, token], columns[1, token] = (d != 0) & made, d != 0
                column[system.name] = np.stack([pairs(source, of, source.lengths)[:, 0] for of in columns], axis=1)
        for title, column in moves.items():
            yield title, Share(), column
        missing = zip(systems, audited.missing, strict=True)
        yield "missing words %", FaultShare(), {s.name: surprising(source, gaps) for s, gaps in missing}
    untranslated = {of.name: surprising(source, audited.surprises(of, 0)) for of in audited.texts}
    yield "untranslated words %", FaultShare(), untranslated
    yield "added words %", FaultShare(), {of.name: surprising(of.text, audited.surprises(of, 1)) for of in audited.texts}
    if audited.fits:
        sums = {name: np.nan_to_num(fit.means) * fit.n_jumps for name, fit in audited.fits.items()}
        fits = {name: np.stack([sums[name] / 100, fit.n_jumps], axis=1) for name, fit in audited.fits.items()}
        yield "log p of jumps", Share(), fits


def _measures(audited: Audit, samples: int, seed: int) -> Iterator[JsonObject]:
    """The table of systems: values with intervals, each system compared with the first one, p with Holm's correction.

    `beyond_reference` are the systems that are significantly worse than the reference.
    """
    drawn: Any = {"samples": samples, "seed": seed}
    for title, metric, statistics in _statistics(audited):
        estimates = {name: estimate(metric, [of], **drawn) for name, of in statistics.items()}
        cells: dict[str, JsonObject] = {n: {"value": e.value, "interval": list(e.interval)} for n, e in estimates.items()}
        yardstick, row = cells.pop(REFERENCE, None), {"measure": title, "higher_is_better": metric.higher_is_better}
        first, *others = cells
        compared = [compare(metric, [statistics[name]], [statistics[first]], **drawn) for name in others]
        for name, of, p_holm in zip(others, compared, holm([of.p for of in compared]), strict=True):
            cells[name] |= {"delta": of.delta, "p": of.p, "p_holm": p_holm}
        if yardstick is not None:
            against = {name: compare(metric, [statistics[name]], [statistics[REFERENCE]], **drawn) for name in cells}
            row["reference"] = yardstick
            row["beyond_reference"] = [
                name for name, of in against.items() if of.p < LEVEL and (of.delta < 0) == metric.higher_is_better
            ]
        yield row | {"systems": cells}


def audit(
    source: Text | Sequence[str],
    reference: Text | Sequence[str] | None,
    systems: Mapping[str, Text | Sequence[str]],
    aligner: WordAligner,
    *,
    annotations: Annotations = NOTHING,
    jumps: NextPositionModel | None = None,
    calibration: Bitext | None = None,
    samples: int = 1000,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Judge word order and coverage of translations by any system, tokenized like the aligner's training text.

    Arguments:
        reference: the reference translation, or None: then `jumps` is needed.
        systems: translations by the name of their system; all are compared with the first. A second reference given as
        a system shows how much two good translations differ.
        annotations: tags of the source words, for movements by tag and for a jump model trained with tags.
        jumps: a jump model, which says how probable each order is.
        calibration: sentence pairs whose orders are usual.

    >>> aligner = Aligner().fit(Bitext.of(["a b c", "a", "b", "c"] * 9, ["x y z", "x", "y", "z"] * 9))
    >>> audited = audit(["a b c"], ["x y z"], {"system": ["x y z"]}, aligner)
    >>> audited.systems[0].links[0], audited.moved(0, 0)
    ([(0, 0), (1, 1), (2, 2)], [])
    """
    if not isinstance(aligner, Aligner):
        raise OptionError("audit needs an aligner with posteriors: hmm or neural")
    if not systems or REFERENCE in systems:
        raise OptionError(f"audit needs the translations of a system, and none may be named {REFERENCE!r}")
    if reference is None and jumps is None:
        raise OptionError("without a reference, a jump model must judge the word order: give jumps (--jumps MODEL)")
    given = [source, *([] if reference is None else [reference]), *systems.values()]
    source, *texts = [text if isinstance(text, Text) else Text.of(text) for text in given]
    names = [*([] if reference is None else [REFERENCE]), *systems]
    for text in (source, *texts):
        check_same_length(source, text)
        text.check_lengths()
        if text is source or (text is texts[0] and reference is not None):
            refuse_empty(text)
    forms = [rule.apply(text).text for rule, text in zip(aligner.normalizations(), (source, joined(texts)), strict=True)]
    known = check_languages("the aligner", aligner.vocabularies_, (forms[0], forms[1]))
    parts, n = Resources.of(threads, progress), len(texts)
    linked = [
        LinkedText.of(name, source, text, aligner, parts.part(k, of=n))
        for k, (name, text) in enumerate(zip(names, texts, strict=True))
    ]
    fits, usual = {}, np.zeros(0)
    if jumps is not None:
        fits = {text.name: JumpFit.of(jumps, source, text.orders, annotations) for text in linked}
        if calibration is not None:
            orders = visit_order(aligner.align(calibration, threads=threads), threads=threads)
            means = JumpFit.of(jumps, calibration.source, orders, NOTHING).means
            usual = np.sort(means[~np.isnan(means)])
    audited = Audit(source, None if reference is None else linked.pop(0), linked, fits, usual, known)
    if audited.reference is not None:
        audited.movements = list(_movements(audited, audited.reference, annotations))
    audited.measures = list(_measures(audited, samples, seed))
    return audited
