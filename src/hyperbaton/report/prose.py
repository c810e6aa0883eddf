"""A sentence or two about each picture, generated from its numbers.

Each function makes only statements that are true for any numbers; with too little data it returns nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from hyperbaton.base.counted import counted

Key = TypeVar("Key", int, str)
Counts = Mapping[int, float]
Lines = Mapping[str, Mapping[Key, float]]


def percent(part: float, whole: float) -> str:
    """A share as printed; a positive share is never printed as zero.

    >>> percent(1, 3), percent(1, 5000), percent(0, 3)
    ('33.3%', '0.02%', '0.0%')
    """
    share = 100 * part / whole if whole else 0.0
    return f"{share:.2f}%" if 0 < share < 0.05 else f"{share:.1f}%"


def listed(names: Sequence[str], most: int = 3) -> str:
    """List names in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"]), listed(list("abcde"))
    ('a', 'a and b', 'a, b and c', 'a, b, c and 2 more')
    """
    shown = list(names) if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def distances(counts: Counts, farthest: int, things: str) -> str:
    """The shares of forward and backward jumps, the most frequent distance besides 0, and what the picture omits.

    >>> for sentence in distances({-20: 1, -2: 4, 0: 10, 3: 5}, 15, "phrase pairs").split(". "):
    ...     print(sentence)
    25.0% jump forward and 25.0% go back; the most frequent distance besides 0 is d = 3 (25.0%)
    1 of the 20 phrase pairs (5.0%) lies beyond ±15, counted but not drawn.
    """
    total = sum(counts.values())
    moved = {d: n for d, n in counts.items() if d and n}
    if not moved:
        return "Nothing moves."
    forward, back = (sum(n for d, n in moved.items() if d * sign > 0) for sign in (-1, 1))
    often = max(moved, key=lambda d: (moved[d], -abs(d)))
    text = (
        f"{percent(forward, total)} jump forward and {percent(back, total)} go back; the most frequent distance besides 0 "
        f"is d = {signed(often)} ({percent(moved[often], total)})."
    )
    if beyond := sum(n for d, n in moved.items() if abs(d) > farthest):
        verb = "lies" if beyond == 1 else "lie"
        text += (
            f" {beyond:,.0f} of the {total:,.0f} {things} ({percent(beyond, total)}) {verb} beyond ±{farthest}, "
            "counted but not drawn."
        )
    return text


def signed(d: int) -> str:
    return f"{d}".replace("-", "−")


def shares(counts: Counts) -> str:
    """The lengths of movements.

    >>> shares({-2: 4, 0: 10, 1: 5, 9: 1})
    'Half of the movements are no longer than 1 word, nine in ten no longer than 2 words.'
    """
    moved = sum(n for d, n in counts.items() if d)
    if not moved:
        return "Nothing moves."

    def length(share: float) -> str:
        reached, k = 0.0, 0
        while reached < share * moved:
            k += 1
            reached += counts.get(k, 0) + counts.get(-k, 0)
        return counted(k, "word")

    return f"Half of the movements are no longer than {length(0.5)}, nine in ten no longer than {length(0.9)}."


def tags(by_tag: Mapping[str, Counts]) -> str:
    """Which tags follow the previous word, and which are reached from far.

    >>> tags({"NN": {0: 9, 1: 1}, "VV": {-2: 3, 0: 1}})
    'Words tagged NN most often follow the word translated before them (90.0%), those tagged VV least often (25.0%).'
    """
    following = {tag: counts.get(0, 0) / total for tag, counts in by_tag.items() if (total := sum(counts.values()))}
    if not following:
        return ""
    most, least = (choose(following, key=lambda tag: following[tag]) for choose in (max, min))
    text = f"Words tagged {most} most often follow the word translated before them ({percent(following[most], 1)})"
    return text + (f", those tagged {least} least often ({percent(following[least], 1)})." if least != most else ".")


def best_by_place(lines: Lines[Key], places: str) -> str:
    """Which line is highest most often, and which is second.

    >>> best_by_place({"a": {0: 1.0, 1: 2.0}, "b": {0: 1.0, 1: 1.0}}, "distances")
    'a is highest, alone or with others, at 2 of 2 distances, b at 1.'
    """
    lines = {name: values for name, values in lines.items() if values}
    keys = {key for values in lines.values() for key in values}
    if len(lines) < 2:
        return ""
    wins = dict.fromkeys(lines, 0)
    for key in keys:
        top = max(values[key] for values in lines.values() if key in values)
        for name, values in lines.items():
            wins[name] += key in values and values[key] >= top
    first, second, *_ = sorted(lines, key=lambda name: -wins[name])
    return (
        f"{first} is highest, alone or with others, at {wins[first]} of {len(keys)} {places}, {second} at {wins[second]}."
    )


def few_cases(counts: Lines[Key], few: int = 30) -> str:
    """How many points have few cases.

    >>> few_cases({"a": {0: 900, 1: 29, 2: 1}, "b": {0: 900}})
    '2 of the 3 points of a line rest on fewer than 30 cases.'
    """
    line: Mapping[Key, float] = max(counts.values(), key=len, default={})
    small = sum(n < few for n in line.values())
    if not line:
        return ""
    points = f"{small or 'None'} of the {counted(len(line), 'point')}"
    return f"{points} of a line rest{'s' if small == 1 else ''} on fewer than {few} cases."


def by_support(lines: Lines[str]) -> str:
    """Precision from rare to frequent phrases.

    >>> by_support({"a": {"0": 40.0, "1-9": 50.0}, "b": {"0": 60.0, "1-9": 55.0}})
    'From the rarest (0) to the most frequent source phrases (1-9), a goes from 40.0% to 50.0% and b from 60.0% to 55.0%.'
    """
    names = list(dict.fromkeys(name for values in lines.values() for name in values))
    whole = {model: values for model, values in lines.items() if {*names[:1], *names[-1:]} <= values.keys()}
    if len(names) < 2 or not whole:
        return ""
    chosen = sorted(whole, key=lambda model: -whole[model][names[-1]])[:3] if len(whole) > 3 else list(whole)
    parts = [f"{model} goes from {whole[model][names[0]]:.1f}% to {whole[model][names[-1]]:.1f}%" for model in chosen]
    parts[1:] = [part.replace(" goes from ", " from ", 1) for part in parts[1:]]
    return f"From the rarest ({names[0]}) to the most frequent source phrases ({names[-1]}), {listed(parts)}."


def closest(lines: Lines[int], text: Counts) -> str:
    """Which line follows the text most closely, by the mean ratio.

    >>> closest({"a": {-3: 0.1}, "b": {-3: 0.4}}, {-3: 0.2, -4: 0.1})
    'a follows the text most closely: on average it is off by a factor of 2.0; b by a factor of 2.0.'
    """
    factors = {}
    for name, values in lines.items():
        ratios = [abs(math.log(values[d] / text[d])) for d in values if values[d] > 0 and text.get(d, 0) > 0]
        if ratios:
            factors[name] = math.exp(sum(ratios) / len(ratios))
    if not factors:
        return ""
    first, last = (choose(factors, key=lambda name: factors[name]) for choose in (min, max))
    if first == last and len(factors) > 1:
        last = next(name for name in factors if name != first)
    sentence = f"{first} follows the text most closely: on average it is off by a factor of {factors[first]:.1f}"
    return sentence + (f"; {last} by a factor of {factors[last]:.1f}." if last != first else ".")


def scores(estimates: Mapping[str, Mapping[str, tuple[float, float, float]]], title: str, high: bool) -> str:
    """Which system is best, and how many others have overlapping intervals.

    >>> estimates = {"a": {"6": (20.0, 19.0, 21.0), "none": (15.0, 14.0, 16.0)}, "b": {"6": (20.5, 19.5, 21.5)}}
    >>> scores(estimates, "BLEU", True)
    'b with distortion limit 6 has the highest BLEU, 20.50; of the other 2, the interval of 1 overlaps with its own.'
    >>> scores(estimates, "TER", False)
    'a with no distortion limit has the lowest TER, 15.00; of the other 2, the interval of none overlaps with its own.'
    """
    every = [(value, low, top, name, limit) for name, row in estimates.items() for limit, (value, low, top) in row.items()]
    if len(every) < 2:
        return ""
    choose = max if high else min
    value, low, top, name, limit = choose(every, key=lambda one: one[0])
    where = f"distortion limit {limit}" if limit.isdigit() else "no distortion limit"
    near = sum(one[1] <= top and one[2] >= low for one in every) - 1
    extreme = "highest" if high else "lowest"
    counted = f"the interval of {near or 'none'} overlaps" if near < 2 else f"the intervals of {near} overlap"
    others = f"of the other {len(every) - 1}, {counted} with its own"
    return f"{name} with {where} has the {extreme} {title}, {value:.2f}; {others}."


def tuning(curves: Mapping[str, Sequence[tuple[int, float]]]) -> str:
    """Where curves end, and which changed most.

    >>> tuning({"a": [(0, 10.0), (1, 14.0)], "b": [(0, 12.0), (1, 13.0)]})
    'a ends highest (14.00) and b lowest (13.00); a changed most, from 10.00 to 14.00.'
    """
    if not curves:
        return ""
    ends = {name: points[-1][1] for name, points in curves.items()}
    high, low = (choose(ends, key=lambda name: ends[name]) for choose in (max, min))
    changed = max(curves, key=lambda name: abs(curves[name][-1][1] - curves[name][0][1]))
    where = f"{high} ends highest ({ends[high]:.2f}) and {low} lowest ({ends[low]:.2f}); " if high != low else ""
    return f"{where}{changed} changed most, from {curves[changed][0][1]:.2f} to {ends[changed]:.2f}."


def costs(seconds: Mapping[str, float], shown: Sequence[str]) -> str:
    """The share of the time of the drawn stages.

    >>> costs({"a": 60.0, "b": 30.0, "c": 10.0}, ["a", "b"])
    'a took longest, 60.0% of the 100 seconds of all 3 stages added up; the 2 drawn took 90.0%.'
    """
    total = sum(seconds.values())
    if not total or not shown:
        return ""
    longest = percent(seconds[shown[0]], total)
    text = f"{shown[0]} took longest, {longest} of the {total:,.0f} seconds of all {counted(len(seconds), 'stage')}"
    drawn = percent(sum(seconds[stage] for stage in shown), total)
    return text + (f" added up; the {len(shown)} drawn took {drawn}." if len(shown) < len(seconds) else " added up.")
