"""Options of the decoder."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import CheckedOptions, option, options_of
from hyperbaton.phrases.rules import DECODED_SPAN


@dataclass(unsafe_hash=True)
class Decoding(CheckedOptions):
    """Options of the search; a system stores them, and every call may override them."""

    search: str = option("cube", "search algorithm", choices=("stack", "cube", "refine"))
    stack: int = option(200, "maximum number of hypotheses in a stack; 0 keeps all", minimum=0)
    pop_limit: int = option(1000, "cube, refine: number of hypotheses created for a stack", minimum=1)
    threshold: float = option(0.0, "drop hypotheses less probable than this fraction of the best, e.g. 1e-5", minimum=0)
    distortion_limit: int = option(6, "longest jump in words; 0 is monotone, -1 means no limit", minimum=-1)
    max_span: int = option(
        DECODED_SPAN, "rules: longest span under a rule other than glue, in words; 0 means no limit", minimum=0
    )
    rescore: int = option(100, "rules: number of derivations that models of complete derivations choose from", minimum=1)
    table_limit: int = option(20, "number of translations per source phrase; 0 takes all", minimum=0)
    early_distortion: bool = option(
        False, "charge the distance over a gap and back as soon as the gap is skipped (Moore and Quirk 2007)"
    )
    future_distortion: bool = option(True, "include the remaining distance in future costs (Green et al. 2010)")
    future_jumps: str = option(
        "none",
        "include the remaining jumps in future costs: as an upper bound, or as expected",
        choices=("none", "bound", "expected"),
    )
    jump_threshold: float = option(
        0.0, "skip jumps whose probability by the jump models is below this, e.g. 0.005", minimum=0, maximum=1
    )
    itg: bool = option(
        False, "only phrase orders of a binary bracketing whose parts may be swapped (inversion transduction grammar)"
    )
    drop_unknown: bool = option(False, "drop unknown words instead of copying them")
    monotone_at_punctuation: bool = option(False, "do not reorder across punctuation")
    markup: bool = option(False, "read <x translation=…>, <zone> and <wall/> in the input")
    max_words: int = option(250, "longer lines are translated in pieces", minimum=1, maximum=2000)


OF_PHRASES = frozenset(
    ("search", "distortion_limit", "early_distortion", "future_distortion", "future_jumps", "jump_threshold", "itg")
)
OF_RULES = frozenset(("max_span", "rescore"))


def check_applies(names: Iterable[str], *, hierarchical: bool) -> None:
    """Refuse options that do not apply to a system: phrase options for rules, and vice versa."""
    foreign, kind = (OF_PHRASES, "rules") if hierarchical else (OF_RULES, "phrases")
    flags = [opt.flag for opt in options_of(Decoding) if opt.name in foreign and opt.name in set(names)]
    if flags:
        raise OptionError(
            f"{' and '.join(f'--{flag}' for flag in flags)}: not an option of a system with {kind}; leave it out"
        )
