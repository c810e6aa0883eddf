"""Projection of spans and markup as its rules are written: for every word all elements, for every span all links; slow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from hyperbaton.align.inline_markup import Element, MarkedSentence, MarkedTranslation
from hyperbaton.align.projection import Conflict, Points, Projection, Span, bio_spans


def stacks(sentence: MarkedSentence) -> list[list[int]]:
    """The numbers of the elements that enclose each word, from the outside in."""
    return [
        [k for k, element in enumerate(sentence.elements) if element.begin <= at < element.end]
        for at in range(len(sentence.words))
    ]


def project_markup(sentence: MarkedSentence, words: Sequence[str], links: Points, split: str) -> MarkedTranslation:
    conflicts = list(sentence.conflicts)
    found = _target_stacks(sentence, links, len(words), conflicts)
    _settle_splits(sentence, found, split, conflicts)
    text = "".join(_render(sentence, words, found, _placed(sentence, links, len(words)), conflicts))
    return MarkedTranslation(text, conflicts)


def _target_stacks(sentence: MarkedSentence, links: Points, n_target: int, conflicts: list[Conflict]) -> list[list[int]]:
    """The elements of each target word."""
    of_source = stacks(sentence)
    partners: list[list[int]] = [[] for _ in range(n_target)]
    for i, j in sorted(links):
        partners[j].append(i)
    whole = [k for k, e in enumerate(sentence.elements) if e.begin == 0 < e.end == len(sentence.words)]
    known: list[list[int] | None] = [None] * n_target
    for j, positions in enumerate(partners):
        counts = Counter(tuple(of_source[i]) for i in positions)
        if counts:
            chosen = max(counts, key=counts.__getitem__)
            known[j] = list(chosen)
            if len(counts) > 1:
                names = " ".join(sentence.elements[k].name for k in chosen)
                conflicts.append(Conflict("ambiguous", names, (positions[0], positions[-1] + 1), (j, j + 1)))
    settled: list[list[int]] = []
    for j, stack in enumerate(known):
        if stack is None:
            left = next((s for s in known[j::-1] if s is not None), whole)
            right = next((s for s in known[j:] if s is not None), whole)
            stack = [k for k in left if k in right]
        settled.append(stack)
    return settled


def _settle_splits(sentence: MarkedSentence, stacks: list[list[int]], split: str, conflicts: list[Conflict]) -> None:
    """Find elements that are lost or apart, and apply the rule for the latter."""
    for k, element in enumerate(sentence.elements):
        if element.begin == element.end:
            continue
        inside = [j for j, stack in enumerate(stacks) if k in stack]
        runs = _consecutive(inside)
        span = (element.begin, element.end)
        if not runs:
            conflicts.append(Conflict("lost", element.name, span))
        elif len(runs) > 1:
            conflicts.append(Conflict("split", element.name, span, (inside[0], inside[-1] + 1)))
            kept = max(runs, key=lambda run: run[1] - run[0])
            for j, stack in enumerate(stacks):
                if split == "largest" and k in stack and not kept[0] <= j < kept[1]:
                    stack.remove(k)
                elif split == "cover" and k not in stack and inside[0] <= j <= inside[-1]:
                    stack.append(k)
                    stack.sort()  # parents have smaller numbers than children


def _consecutive(positions: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for j in positions:
        if runs and runs[-1][1] == j:
            runs[-1] = (runs[-1][0], j + 1)
        else:
            runs.append((j, j + 1))
    return runs


def _placed(sentence: MarkedSentence, links: Points, n_target: int) -> list[tuple[int, int]]:
    """(target position, element) of the elements without words, each before the word at that position."""
    placed = []
    for k, element in enumerate(sentence.elements):
        parent = sentence.elements[element.parent] if element.parent >= 0 else None
        if element.begin != element.end or (parent is not None and parent.begin == parent.end):
            continue  # what is inside an element without words goes with it
        at = element.begin
        following = [j for i, j in links if i == at]
        preceding = [j for i, j in links if i == at - 1]
        if at == 0 or at == len(sentence.words):
            place = 0 if at == 0 else n_target
        elif following or preceding:
            place = min(following) if following else max(preceding) + 1
        else:
            later = [j for i, j in links if i > at]
            place = min(later) if later else n_target
        placed.append((place, k))
    return sorted(placed)


def _render(
    sentence: MarkedSentence,
    words: Sequence[str],
    stacks: Sequence[Sequence[int]],
    placed: Sequence[tuple[int, int]],
    conflicts: list[Conflict],
) -> Iterator[str]:
    """The pieces of the translation; elements are closed and opened where the elements of words change."""
    elements = sentence.elements
    opened: list[int] = []
    for j in range(len(words) + 1):
        stack = list(stacks[j]) if j < len(words) else []
        same = 0
        while same < min(len(opened), len(stack)) and opened[same] == stack[same]:
            same += 1
        for k in opened[same:]:
            if k in stack:
                conflicts.append(Conflict("crossing", elements[k].name, (elements[k].begin, elements[k].end), (j, j + 1)))
        # An element without words stays inside the one that it was in, where that is open before or after this place.
        here = {k: elements[k].parent for place, k in placed if place == j}
        last_inside = {k for k, parent in here.items() if parent in opened[same:] and parent not in stack}
        first_inside = {k for k, parent in here.items() if parent in stack[same:]}
        for parent in reversed(opened[same:]):
            yield from (_without_words(elements, k) for k in here if k in last_inside and here[k] == parent)
            yield f"</{elements[parent].name}>"
        if j < len(words):
            yield " " if j else ""
        yield from (_without_words(elements, k) for k in here if k not in last_inside | first_inside)
        for parent in stack[same:]:
            yield elements[parent].tag
            yield from (_without_words(elements, k) for k in here if k in first_inside and here[k] == parent)
        yield from words[j : j + 1]
        opened = stack


def _without_words(elements: Sequence[Element], number: int) -> str:
    """An element without words, with those inside it."""
    element = elements[number]
    inside = "".join(_without_words(elements, k) for k, other in enumerate(elements) if other.parent == number)
    return element.tag if element.single else f"{element.tag}{inside}</{element.name}>"


def project_spans(spans: Iterable[Span], links: Points, split: str) -> Projection:
    linked = {j for _, j in links}
    found = Projection()
    for span in spans:
        n_links = Counter(j for i, j in links if span.begin <= i < span.end)
        runs = _runs(set(n_links), linked)
        whole = (runs[0][0], runs[-1][1]) if runs else None
        if len(runs) != 1:
            found.conflicts.append(Conflict("split" if runs else "lost", span.label, (span.begin, span.end), whole))
        if whole is not None and split == "cover":
            runs = [whole]
        elif runs and split == "largest":
            runs = [max(runs, key=lambda run: sum(n_links[j] for j in range(*run)))]
        found.spans += [Span(begin, end, span.label) for begin, end in runs]
    return found


def project_bio(labels: Sequence[str], links: Points, n_target: int, split: str) -> Projection:
    found = project_spans(bio_spans(labels), links, split)
    found.labels = ["O"] * n_target
    kept = []
    for span in sorted(found.spans, key=lambda span: span.begin - span.end):  # the longest first
        if any(found.labels[j] != "O" for j in range(span.begin, span.end)):
            found.conflicts.append(Conflict("overlap", span.label, None, (span.begin, span.end)))
            continue
        kept.append(span)
        found.labels[span.begin : span.end] = [f"B-{span.label}", *[f"I-{span.label}"] * (span.end - span.begin - 1)]
    found.spans = sorted(kept, key=lambda span: span.begin)
    return found


def _runs(wanted: set[int], linked: set[int]) -> list[tuple[int, int]]:
    """Runs of wanted positions, half-open; positions that are not linked at all do not interrupt one."""
    runs: list[tuple[int, int]] = []
    for j in sorted(wanted):
        if runs and not any(k in linked for k in range(runs[-1][1], j)):
            runs[-1] = (runs[-1][0], j + 1)
        else:
            runs.append((j, j + 1))
    return runs
