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


def listed(names: Sequence[str]) -> str:
    """List names in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"]), listed(list("abcde"))
    ('a', 'a and b', 'a, b and c', 'a, b, c and 2 more')
    """
    shown = list(names) if len(names) <= 3 else [*names[:3], f"{len(names) - 3} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else ""


def distances(counts: Counts) -> str:
    """The shares of forward and backward jumps.

    >>> distances({-20: 1, -2: 4, 0: 10, 3: 5})
    '25.0% jump forward and 25.0% go back.'
    """
    total = sum(counts.values())
    forward, back = (sum(n for d, n in counts.items() if d * sign > 0) for sign in (-1, 1))
    return (
        f"{percent(forward, total)} jump forward and {percent(back, total)} go back."
        if forward + back
        else "Nothing moves."
    )


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


def by_support(lines: Lines[str]) -> str:
    """Precision from rare to frequent phrases.

    >>> by_support({"a": {"0": 40.0, "1-9": 50.0}, "b": {"0": 60.0, "1-9": 55.0}})
    'From the rarest (0) to the most frequent source phrases (1-9), a goes from 40.0% to 50.0% and b from 60.0% to 55.0%.'
    """
    names = list(dict.fromkeys(name for values in lines.values() for name in values))
    whole = {model: values for model, values in lines.items() if {*names[:1], *names[-1:]} <= values.keys()}
    if len(names) < 2 or not whole:
        return ""
    models = sorted(whole, key=lambda model: -whole[model][names[-1]])[:3] if len(whole) > 3 else list(whole)
    parts = [f"{model} goes from {whole[model][names[0]]:.1f}% to {whole[model][names[-1]]:.1f}%" for model in models]
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


def kept(ends: Mapping[str, tuple[float, float]]) -> str:
    """How much of the average probability at 5 to 8 words is left at 17 to 20, of the same CPs.

    >>> kept({"pair": (0.01, 0.009), "text": (0.02, 0.005)})
    'From 5–8 to 17–20 words the average probability falls to 90% (pair) and 25% (text).'
    """
    falls = [f"{100 * far / near:.0f}% ({name})" for name, (near, far) in ends.items() if near > 0]
    return f"From 5–8 to 17–20 words the average probability falls to {listed(falls)}." if falls else ""


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
