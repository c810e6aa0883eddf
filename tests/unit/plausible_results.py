"""A results.json as a run writes it, with all sections and some awkward words; the numbers are made up."""

from __future__ import annotations

import math
from typing import Any

SYSTEMS = {"linear": 0.0, "LR": 0.9, "DPR & <MMS>": 1.6, "PAIR": 1.3, "SEQUENCE": 1.9}
TEN_SYSTEMS = {f"system_{k}-with-a-name": k / 5 for k in range(10)}
LIMITS = [10, 20, 30, None]
CLASSES = ["d≤-5", "-5<d<0", "d=0", "0<d<5", "d≥5"]


def plausible_results(systems: dict[str, float] = SYSTEMS) -> dict[str, Any]:
    """All sections; `systems` have names and gains."""
    more = [(name, 3 * gain, 100) for name, gain in systems.items() if name not in SYSTEMS]
    more_jumps = [(name, 3 * gain) for name, gain in systems.items() if name not in SYSTEMS]
    return {
        "title": "Chinese to English, 50,000 pairs & <more>",
        "signature": {
            "package": "0.1.0",
            "python": "3.11.7",
            "libraries": {"numpy": "2.3.1", "scipy": "1.16.0"},
            "seed": 1,
            "experiment": "5b1c" * 16,
            "inputs": {"train.source": {"path": "corpus/train_50%.zh", "sha256": "a0f3" * 16, "lines": 50_000}},
        },
        "options": {
            "title": "Chinese to English",
            "seed": 1,
            "models": {"LR": {"model": "lexicalized", "orientations": "five"}, "PAIR": {"model": "pair", "window": 2}},
            "decode": {"limits": [10, 20, 30], "stack": 200},
        },
        "commands": {
            "corpus": ["hyperbaton clean raw.zh raw.en -o train", "hyperbaton align train.zh train.en > train.links"],
            "orientation": ["hyperbaton evaluate LR DPR test.zh test.en test.links --json"],
            "translation": ["hyperbaton translate SEQUENCE.system < test.zh > SEQUENCE.hyp"],
        },
        "corpus": {name: _split(pairs) for name, pairs in (("train", 50_000), ("dev", 1_000), ("test", 1_000))},
        "movement": _movement(),
        "orientation": [
            _orientation(*row) for row in (("LR", 0, 60), ("DPR & <MMS>", 6, 900), ("ME_global", 4, 210), *more)
        ],
        "next_position": [_next_position(*row) for row in (("9-CLASS", 0), ("PAIR", 6), ("SEQUENCE", 9), *more_jumps)],
        "step": [
            {
                "model": name,
                "n": 17_204,
                "features": n,
                "accuracy": 41.2 + k,
                "mean_logprob": -2.9 + k / 10,
                "translation": {"bleu": 21.4 + k / 3, "pdscore": 48.1 + k, "ter": 61.2 - k},
                "siblings": [
                    {"count": 18065 - 400 * k, "weight": 2.06 - 0.3 * k, "target": "∅", "source": "的", "node": node}
                    | {"coverage": k % 2, "orientation": 1 - 2 * (k % 2)}
                    for k, node in enumerate(("QP", "NP", "CP", "IP"))
                ],
            }
            for k, (name, n) in enumerate((("lexical", 1_204_331), ("+ prior", 1_204_331), ("+ parse", 2_730_118)))
        ],
        "translation": [_translation(name, gain, limit) for limit in LIMITS for name, gain in systems.items()],
        "tuning": {
            name: [
                {
                    "iteration": k,
                    "objective": 18 + gain + 4 * (1 - math.exp(-k / 3)),
                    "held_out": 17 + gain + 3.5 * k / (k + 2),
                }
                for k in range(1, 13)
            ]
            for name, gain in systems.items()
        },
        "costs": [
            {"stage": stage, "kind": kind, "seconds": seconds, "peak_mib": mib, "output_mib": mib / 7}
            for stage, kind, seconds, mib in (
                ("align", "aligner", 182.4, 640.0),
                ("extract", "phrases", 21.7, 911.2),
                ("lm", "model", 12.2, 402.9),
                ("train:LR", "orientation", 3.1, 301.4),
                ("train:SEQUENCE", "next_position", 941.8, 2210.6),
                ("tune:SEQUENCE", "tuning", 1530.2, 1804.0),
            )
        ],
        "sentences": [_sentence(117, list(systems)), _long_sentence(402), _sentence(733, list(systems))],
        "findings": [
            "SEQUENCE reaches 24.3 BLEU at limit 20, 1.9 more than the linear model (p < 0.01).",
            "23% of the phrase pairs move, most of them by fewer than 4 words.",
            "DPR & <MMS> classifies 78.1% of held-out phrase pairs rightly, LR 72.1%.",
        ],
    }


def _split(pairs: int) -> dict[str, Any]:
    return {
        "pairs": pairs,
        "source_tokens": pairs * 22 + 7,
        "target_tokens": pairs * 25 + 3,
        "source_types": int(210 * pairs**0.5),
        "target_types": int(160 * pairs**0.5),
        "links": pairs * 24,
        "unaligned_source": pairs * 2,
        "unaligned_target": pairs * 4,
        "mean_source_length": 22.04,
        "mean_target_length": 25.1,
    }


def _movement() -> dict[str, Any]:
    counts = {str(d): int(900_000 * math.exp(-0.55 * abs(d)) / (1 if d == 0 else 3)) + 40 for d in range(-19, 20)}
    jumps = range(-5, 6)
    return {
        "distances": counts,
        "word_distortions": {d: n * 2 for d, n in counts.items() if d != "-1"},
        "orientations": {
            "three": {"d<0": 310_221, "d=0": 900_040, "d>0": 221_930},
            "five": dict(zip(CLASSES, (42_000, 268_221, 900_040, 181_200, 40_730), strict=True)),
        },
        "jumps_by_tag": {
            tag: {str(j): int(n * math.exp(-abs(j - centre))) + 10 for j in jumps if j}
            for tag, n, centre in (
                ("NN", 90_000, 1),
                ("VV", 70_000, 2),
                ("NT", 9_000, -1),
                ("DEG", 8_000, -2),
                ("P", 7_500, 1),
            )
        },
    }


def _orientation(model: str, gain: float, seconds: float) -> dict[str, Any]:
    return {
        "model": model,
        "orientations": "five",
        "n": 182_334,
        "overall_precision": 72.1 + gain,
        "known_precision": 74.0 + gain,
        "mean_logprob": -0.71 + gain / 50,
        "f1": dict(zip(CLASSES, (31 + gain, 44 + 2 * gain, 86 + gain / 3, 41 + 2 * gain, 28 + gain), strict=True)),
        "precision_by_distance": {str(d): 96 - gain / 4 if d == 0 else 30 + 2 * gain + 20 / abs(d) for d in range(-15, 16)},
        "precision_by_support": {
            "0": 66.0,
            "1-9": 68 + gain / 2,
            "10-99": 71 + gain,
            "100-999": 75 + gain,
            "1000+": 79 + gain,
        },
        "n_by_distance": {str(d): 60_000 // (1 + d * d) for d in range(-15, 16)},
        "n_by_support": {"0": 9_000, "1-9": 21_000, "10-99": 52_334, "100-999": 60_000, "1000+": 40_000},
        "confusion": [],
        "clusters": {"的": {"n": 8123, "precision": 61.2 + gain}, "在": {"n": 4021, "precision": 58.8 + gain}},
        "train_seconds": seconds,
        "train_peak_mib": 300 + seconds / 3,
    }


def _next_position(model: str, gain: float) -> dict[str, Any]:
    distortions = [d for d in range(-30, 31) if d != -1]
    return {
        "model": model,
        "n": 24_118,
        "accuracy": 61.0 + gain,
        "mean_logprob": -1.9 + gain / 20,
        "accuracy_by_distance": {str(d): 92.0 if d == 0 else (25 + 3 * gain) / (1 + abs(d) / 6) for d in distortions},
        "mean_logprob_by_distance": {str(d): -0.2 - abs(d) ** 0.6 + gain / 12 for d in distortions},
        "n_by_distance": {str(d): 1 + 9_000 // (1 + d * d) for d in distortions},
        "by_direction": {
            name: {"n": 5_000, "accuracy": accuracy + gain, "mean_logprob": -2.0}
            for name, accuracy in (("back", 31.0), ("monotone", 84.0), ("forward", 28.0))
        },
        "average_probability": {str(d): math.exp(-1.5 - abs(d) / (3 + gain)) for d in distortions},
        "corpus_probability": {str(d): math.exp(-1.2 - abs(d) / 5) for d in distortions},
        "far_average_probability": {str(d): math.exp(-3.5 - d / (12 + gain)) for d in range(5, 21)},
        "far_corpus_probability": {str(d): math.exp(-3.2 - d / 14) for d in range(5, 21)},
        "train_seconds": 40.0 * (1 + gain),
        "train_peak_mib": 800.0 + 150 * gain,
    }


def _translation(system: str, gain: float, limit: int | None) -> dict[str, Any]:
    lost = {10: 0.8, 20: 0.0, 30: 0.3, None: 1.2}[limit] * (1 - gain / 3)
    values = {"bleu": 22.4 + gain - lost, "nist": 6.31 + gain / 8, "meteor": 41.9 + gain - lost, "ter": 60.4 - gain + lost}
    significance = {
        baseline: {metric: {"delta": gain / 2 * (-1 if metric == "ter" else 1), "p": p} for metric in values}
        for baseline, p in (("linear", 0.3 / (1 + 20 * gain)), ("LR", 0.4 / (1 + 9 * gain)))
        if baseline != system and gain
    } or {
        # Worse with certainty, which is no reason for a mark.
        "LR": {metric: {"delta": 0.9 * (1 if metric == "ter" else -1), "p": 0.001} for metric in values}
    }
    return {
        "system": system,
        "model": system.lower(),
        "limit": limit,
        "runs": 3,
        "scores": {
            metric: {"value": value, "interval": [value - 0.61, value + 0.66], "deviation": 0.08 + gain / 30}
            | {"signature": "nrefs:1|case:mixed"}
            for metric, value in values.items()
        },
        "significance": significance,
        "words_per_second": 812.4 - 120 * gain,
        "seconds": 31.0 + 9 * gain,
    }


def _segment(begin: int, end: int, target: str, after: int, k: int) -> dict[str, Any]:
    scores = {"lm": -1.31 - k / 7, "translation": -0.82 - k / 9, "reordering": -0.4 * abs(after - begin), "words": 0.35}
    return {"source": [begin, end], "target": target.split(), "jump": after - begin, "scores": scores}


def _hypothesis(system: str, *phrases: tuple[int, int, str]) -> dict[str, Any]:
    segments, after = [], 0
    for k, (begin, end, target) in enumerate(phrases):
        segments.append(_segment(begin, end, target, after, k))
        after = end
    return {"system": system, "total": -12.25 - len(phrases), "segments": segments}


def _sentence(number: int, systems: list[str]) -> dict[str, Any]:
    """The first system and the last one translate; others as either."""
    first, *_, last = systems
    others = [system for system in systems[1:-1] if system not in SYSTEMS]
    sentence: dict[str, Any] = {
        "id": number,
        "limit": 20,
        "source": ["他", "昨天", "在", "图书馆", "读", "了", "一", "本", "<有趣>", "的", "书", "|||", "&"],
        "tags": ["PN", "NT", "P", "NN", "VV", "AS", "CD", "M", "JJ", "DEG", "NN", "PU", "PU"],
        "reference": ["he", "read", "an", "<interesting>", "book", "in", "the", "library", "yesterday", "|||", "&"],
        "hypotheses": [
            _hypothesis(
                first,
                (0, 2, "he yesterday"),
                (2, 4, "in the library"),
                (4, 6, "read"),
                (6, 8, "a"),
                (8, 10, "<interesting>"),
                (10, 11, "book"),
                (11, 13, "||| &"),
            ),
            _hypothesis(
                last,
                (0, 1, "he"),
                (4, 6, "read"),
                (6, 8, "an"),
                (8, 9, "<interesting>"),
                (9, 10, ""),
                (10, 11, "book"),
                (2, 4, "in the library"),
                (1, 2, "yesterday"),
                (11, 13, "||| &"),
            ),
        ],
    }
    either = sentence["hypotheses"]
    sentence["hypotheses"] = [either[0], *(either[k % 2] | {"system": name} for k, name in enumerate(others)), either[1]]
    return sentence


def _long_sentence(number: int) -> dict[str, Any]:
    n = 42
    pieces = [(k, k + 2, f"phrase number {k // 2 + 1}") for k in range(0, n, 2)]
    return {
        "id": number,
        "limit": 20,
        "source": [f"単語{k}" if k % 3 else f"mot{k}" for k in range(n)],
        "reference": [f"word{k}" for k in range(n)],
        "hypotheses": [
            _hypothesis("LR", *pieces),
            _hypothesis("PAIR", *pieces[:3], *pieces[15:], *pieces[9:15], *pieces[3:9]),
        ],
    }
