"""Does `hyperbaton audit` find faults that were put into good translations?

    python -m benchmarks.audit DATA --work FOLDER > docs/results/audit.md

For each corpus in DATA, an aligner, a translation system and a jump model are trained on the first --pairs sentence pairs
and kept in FOLDER, where a later run finds them. Each kind of fault is put into every sentence of a text that is long
enough for it; the audit then judges the sentences with the fault and the same ones without it. The text is the reference,
judged with itself or without a reference, or the output of the system, judged with the reference.

    AUC             probability that a sentence with the fault has a larger sum of the finding than one without
    found           share of the sentences with the fault that have the finding
    false           share of the sentences without the fault that have it
    precision       found / (found + false): as many sentences with the fault as without

Faults: phrases of one or two words exchanged, 2, 5 or 10 words apart; one or three words dropped, or inserted from another
sentence; a clause of four words or more moved from the end to the start.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import existing_path
from hyperbaton import Bitext, Translator, load_model
from hyperbaton.align import ALIGNERS, Aligner, load_aligner
from hyperbaton.evaluate.audit import LONG, SURPRISE, UNUSUAL, Audit, audit
from hyperbaton.models import MODELS, NextPositionModel

CORPORA = {"kyoto-ja-en": "ja", "twlaw-zh-en": "zh", "tatoeba-ar-en": "ar"}
FAULTS = {"swap 2": "swap", "swap 5": "long", "swap 10": "long", "clause": "long"}
FAULTS |= {"drop 1": "missing", "drop 3": "missing", "add 1": "added", "add 3": "added"}
FINDINGS = {"swap": "swapped neighbours", "long": "wrong long move", "missing": "missing words", "added": "added words"}
ANY, ODD = "any moved phrase", "unusual order"
LONGEST, TRIES, FEWEST = 50, 30, 20
Words = list[str]


def is_content(words: Sequence[str]) -> bool:
    """Whether a phrase has a word that a translation cannot lack."""
    return any(len(word) > 3 and word.isalpha() for word in words)


def with_fault(words: Words, fault: str, donor: Words, rng: random.Random) -> Words | None:
    """The sentence with a fault; None if it is too short for it."""
    kind, _, number = fault.partition(" ")
    n = len(words) - (not any(c.isalnum() for c in words[-1]))  # the last full stop stays
    k = int(number or 0)
    if kind == "clause":
        k = rng.randint(4, n // 2) if n >= 10 else 0
        return words[n - k : n] + words[: n - k] + words[n:] if k else None
    for _ in range(TRIES):
        if kind == "swap":
            first, second = min(rng.randint(1, 2), k), rng.randint(1, 2)
            if n < k + second:
                continue
            at = rng.randint(0, n - k - second)
            a, between, b = words[at : at + first], words[at + first : at + k], words[at + k : at + k + second]
            if a != b and is_content(a) and is_content(b):
                return words[:at] + b + between + a + words[at + k + second :]
        elif kind == "drop" and n >= k + 3:
            at = rng.randint(0, n - k)
            if is_content(words[at : at + k]):
                return words[:at] + words[at + k :]
        elif kind == "add" and len(donor) > k:
            begin, at = rng.randint(0, len(donor) - k), rng.randint(0, n)
            if is_content(donor[begin : begin + k]) and not set(donor[begin : begin + k]) & set(words):
                return words[:at] + donor[begin : begin + k] + words[at:]
    return None


def sums(audited: Audit, k: int) -> dict[str, np.ndarray]:
    """The strength of each finding of system k, by sentence; a finding is reported if its number, in `n …`, is not 0."""
    system, source = audited.systems[k], audited.source
    moved = [audited.moved(k, s) for s in range(len(audited))]
    strength: dict[str, Any] = {
        ANY: [sum(abs(m.passed) * len(m.words) for m in of) for of in moved],
        "long": [max([abs(m.passed) for m in of], default=0) for of in moved],
        "swap": [sum(abs(m.passed) * len(m.words) for m in of) for of in moved],
        f"n {ANY}": [len(of) for of in moved],
        "n long": [sum(abs(m.passed) >= LONG for m in of) for of in moved],
        "n swap": [sum(abs(m.passed) < LONG for m in of) for of in moved],
    }
    for kind, text, values in (("missing", source, audited.missing[k]), ("added", system.text, audited.added[k])):
        parts = [values[slice(*text.offsets[s : s + 2])] for s in range(len(audited))]
        strength[kind] = [float(np.maximum(part, 0).sum()) for part in parts]
        strength[f"n {kind}"] = [int((part >= SURPRISE).sum()) for part in parts]
    if system.name in audited.fits:
        means = np.nan_to_num(audited.fits[system.name].means, nan=-10.0)
        rank = 100 * np.searchsorted(audited.usual, means) / max(len(audited.usual), 1)
        strength |= {ODD: -means, f"n {ODD}": rank < UNUSUAL}
    return {name: np.asarray(values, float) for name, values in strength.items()}


def auc(high: np.ndarray, low: np.ndarray) -> float:
    """The probability that one of the first is larger than one of the second; ties count half."""
    return float((np.sign(high[:, None] - low[None, :]).mean() + 1) / 2)


def rows(
    source: list[Words],
    texts: list[Words],
    reference: list[Words] | None,
    aligner: Aligner,
    jumps: NextPositionModel,
    usual: Bitext,
) -> Iterator[list[str]]:
    """A row for each kind of fault."""
    rng, lines = random.Random(1), [" ".join(words) for words in texts]
    faulty = {fault: [with_fault(w, fault, texts[s - 7], rng) for s, w in enumerate(texts)] for fault in FAULTS}
    systems = {"none": lines}
    systems |= {
        f: [line if w is None else " ".join(w) for w, line in zip(of, lines, strict=True)] for f, of in faulty.items()
    }
    ref = None if reference is None else [" ".join(words) for words in reference]
    more: Any = {"jumps": jumps, "calibration": usual} if reference is None else {}
    audited = audit([" ".join(words) for words in source], ref, systems, aligner, samples=1, **more)
    clean = sums(audited, 0)
    for k, (fault, of) in enumerate(faulty.items(), start=1):
        here, chosen = sums(audited, k), np.array([s for s, words in enumerate(of) if words is not None], int)
        kinds = [FAULTS[fault]]
        if kinds[0] in ("swap", "long"):
            kinds = [ODD] if reference is None else [*kinds, ANY]
        for kind in kinds if len(chosen) >= FEWEST else ():
            found, false = ((part[f"n {kind}"][chosen] > 0).mean() for part in (here, clean))
            area = auc(here[kind][chosen], clean[kind][chosen])
            shares = [100 * found, 100 * false, 100 * found / max(found + false, 1e-9)]
            cells = [
                fault,
                FINDINGS.get(kind, kind),
                str(len(chosen)),
                f"{area:.2f}",
                *(f"{share:.0f}" for share in shares),
            ]
            yield cells


HEAD = """# Audits: are injected faults found?

`python -m benchmarks.audit DATA --work FOLDER` writes this page.
Each kind of fault is put into every sentence of a text that is long enough for it, and [`hyperbaton audit`](../audit.md) judges the sentences with the fault and the same ones without it:

- phrases of one or two words exchanged, starting 2, 5 or 10 words apart (`swap`), or a clause of four words or more moved from the end to the start;
- one or three words dropped, or inserted from another sentence (`drop`, `add`), among them a word with more than three letters.

*AUC* is the probability that the finding is stronger in a sentence with the fault than in one without: 0.5 is chance, 1 is perfect.
*Found* is the percentage of sentences with the fault that have the finding, *false* the percentage of those without the fault; *precision* is found / (found + false), as if half of the sentences had the fault.
A system's output already has faults, which count as false here, so its precision is a lower bound.
A reference that is judged with itself has no false moves or missing words: there, *found* says which faults the links can show at all.
`--outputs` names the corpora for which a system is trained, on the same pairs as the aligner, here Japanese and Arabic; `--neural CORPUS` adds tables for links of [`neural`](align.md#neural-aligner).
"""  # noqa: E501


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=existing_path)
    parser.add_argument("--work", type=Path, required=True, help="folder of the trained parts")
    parser.add_argument("--pairs", type=int, default=30_000, help="training pairs")
    parser.add_argument("--jump-pairs", type=int, default=10_000, help="training pairs of the jump model")
    parser.add_argument("--neural-pairs", type=int, default=5_000, help="training pairs of the aligner neural")
    parser.add_argument("--neural", nargs="*", default=[], help="corpora for which it is trained")
    parser.add_argument("--outputs", nargs="*", default=[*CORPORA], help="corpora for which a system is trained")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--corpora", nargs="*", default=[*CORPORA], choices=CORPORA)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    print(HEAD)
    for corpus in given.corpora:
        audit_corpus(corpus, CORPORA[corpus], given)


def audit_corpus(corpus: str, language: str, given: argparse.Namespace) -> None:
    """Print the tables of a corpus."""
    whole, dev = (
        Bitext.read(*(given.data / corpus / f"{split}.{side}.xz" for side in (language, "en")))
        for split in ("train", "dev")
    )
    learn, work = whole[: given.pairs], given.work / corpus
    aligners = {f"hmm, {len(learn):,} training pairs": _aligner(work, "hmm", learn)}
    if corpus in given.neural:
        few = whole[: given.neural_pairs]
        aligners |= {f"{name}, {len(few):,} training pairs": _aligner(work, name, few) for name in ("hmm", "neural")}
    output, lines = Path(f"{work}.output"), [" ".join(words) for words in dev.source[: 2 * given.sentences]]
    if corpus in given.outputs and not output.exists():
        translator = Translator.train(learn, minutes=1, model="none", quiet=True)
        output.write_text("".join(f"{line}\n" for line in translator.translate(lines)), encoding="utf-8")
    translated: list[Words] = [[]] * len(lines)
    if output.exists():
        translated = [line.split() for line in output.read_text(encoding="utf-8").splitlines()]
    jumps = Path(f"{work}.pair")
    if not jumps.exists():
        few = learn[: given.jump_pairs]
        MODELS["pair"]().fit(few.with_links(aligners[next(iter(aligners))].align(few))).save(jumps)
    model = load_model(jumps)
    assert isinstance(model, NextPositionModel)
    fits = [s for s in range(len(lines)) if len(dev.target[s]) > 2 and len(dev.source[s]) <= LONGEST]
    fits = [s for s in fits if len(translated[s]) > 2 or not output.exists()]
    chosen, usual = fits[: given.sentences], dev[len(lines) :]
    source, reference = ([side[s] for s in chosen] for side in (dev.source, dev.target))
    print(f"## {corpus}\n")
    for name, aligner in aligners.items():
        texts: dict[str, tuple[list[Words], list[Words] | None]] = {
            "The reference, judged with itself": (reference, reference),
            "The reference, judged without a reference": (reference, None),
        }
        if output.exists():
            texts["The output of a system, judged with the reference"] = [translated[s] for s in chosen], reference
        for title, (text, judge) in texts.items():
            print(f"{title}; links by {name}; {len(chosen)} sentences:\n")
            print("| fault | finding | sentences | AUC | found % | false % | precision % |\n|---|---|---|---|---|---|---|")
            for row in rows(source, text, judge, aligner, model, usual):
                print(f"| {' | '.join(row)} |", flush=True)
            print()


def _aligner(work: Path, name: str, pairs: Bitext) -> Aligner:
    """A trained aligner, from the folder if it is there."""
    path = Path(f"{work}.{name}-{len(pairs)}")
    if not path.exists():
        ALIGNERS[name]().fit(pairs).save(path)
    aligner = load_aligner(path)
    assert isinstance(aligner, Aligner)
    return aligner


if __name__ == "__main__":
    main()
