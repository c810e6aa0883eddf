"""Why translations are not the references: the model prefers others, the search missed them, or the limits forbid them.

For each sentence the best way to its reference is searched without a distortion limit (forced decoding). Where there is
one, its score F is compared with the score S of the translation that the ordinary search finds:

    the reference itself    the search returned it
    model error             S ≥ F: the model likes another translation at least as well
    search error            S < F: the search overlooked a better one, namely the reference
    beyond the limit        S < F, and no way to the reference keeps the distortion limit

Sentences are sorted by the longest jump on the way to the reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from hyperbaton.base.errors import AnnotationError, InputError
from hyperbaton.base.progress import Progress
from hyperbaton.corpus import Annotations
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.decode.annotated import in_batches
from hyperbaton.decode.options import Decoding
from hyperbaton.decode.system import System
from hyperbaton.decode.translator import BATCH, NBest, Translator

JUMPS = (0, 1, 3, 6, 10, 20)  # buckets: the longest jump is at least this
_FORCED_STACK = 1000
_EQUAL = 1e-4  # scores closer than this are the same


@dataclass
class Verdicts:
    """Sentences whose reference can be reached, by what became of them."""

    reference: int = 0
    model_error: int = 0
    search_error: int = 0
    beyond_limit: int = 0

    @property
    def total(self) -> int:
        return self.reference + self.model_error + self.search_error + self.beyond_limit


@dataclass
class Diagnosis:
    """What became of the sentences; `by_jump`: by the longest jump on the way to the reference."""

    sentences: int = 0
    reachable: int = 0
    by_jump: dict[int, Verdicts] = field(default_factory=lambda: {jump: Verdicts() for jump in JUMPS})
    spans: int = 0
    spans_cut: int = 0
    limits_lifted: int = 0

    @property
    def cut_fraction(self) -> float:
        """Extensions of hypotheses that the limits on the order forbade, of all that were considered."""
        return self.spans_cut / self.spans if self.spans else 0.0

    def as_json(self) -> dict[str, Any]:
        return {
            "sentences": self.sentences,
            "reachable": self.reachable,
            "cut_fraction": self.cut_fraction,
            "limits_lifted": self.limits_lifted,
            "by_jump": {str(jump): asdict(verdicts) for jump, verdicts in self.by_jump.items()},
        }


def diagnose(
    system: System,
    sources: Sequence[str],
    references: Sequence[str],
    options: Decoding | None = None,
    *,
    annotations: Annotations = NOTHING,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Diagnosis:
    """Say for sentences with references why the search did not return them."""
    if len(sources) != len(references):
        raise InputError(f"there are {len(sources)} sentences, but {len(references)} references")
    ordinary = Translator(system, options, threads=threads)
    unlimited = replace(
        ordinary.options, search="stack", stack=_FORCED_STACK, threshold=0.0, table_limit=0, distortion_limit=-1
    )
    limited = replace(unlimited, distortion_limit=ordinary.options.distortion_limit)
    forcing, forcing_limited = (Translator(system, how, threads=threads) for how in (unlimited, limited))
    result = Diagnosis()
    for lines, known in in_batches(sources, annotations, BATCH):
        first = result.sentences
        wanted = list(references[first : first + len(lines)])
        try:
            ordinary_best = ordinary.translate_batch(lines, NBest(1), annotations=known)
        except AnnotationError as error:
            raise error.moved(first) from error
        forced = forcing.translate_batch(lines, NBest(1), annotations=known, forced=wanted, relax=False)
        within = forcing_limited.translate_batch(lines, NBest(1), annotations=known, forced=wanted, relax=False)
        result.sentences += len(lines)
        result.spans += int(ordinary_best.counts[:, 1].sum())
        result.spans_cut += int(ordinary_best.counts[:, 2].sum())
        result.limits_lifted += int(ordinary_best.relaxed.sum())
        for s, line in enumerate(ordinary_best.lines()):
            if forced.path_offsets[s] == forced.path_offsets[s + 1]:
                continue
            result.reachable += 1
            path = int(forced.path_offsets[s])
            end, longest = 0, 0
            for step in forced.steps(path):
                longest = max(longest, abs(end - step.begin))
                end = step.end
            verdicts = result.by_jump[max(jump for jump in JUMPS if jump <= longest)]
            best = float(ordinary_best.scores[ordinary_best.path_offsets[s]])
            if line.split() == wanted[s].split():
                verdicts.reference += 1
            elif best >= float(forced.scores[path]) - _EQUAL:
                verdicts.model_error += 1
            elif within.path_offsets[s] == within.path_offsets[s + 1]:
                verdicts.beyond_limit += 1
            else:
                verdicts.search_error += 1
        if progress is not None:
            progress(result.sentences, len(sources))
    return result
