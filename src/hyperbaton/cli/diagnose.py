from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from hyperbaton.base.counted import counted
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._parameters import READS, Argument, Flag, Json
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.cli._system import DecodingFlags, SystemOptions, changed, read_beside
from hyperbaton.corpus import Links, Text
from hyperbaton.corpus.files import read_sentences
from hyperbaton.decode.diagnose import JUMPS
from hyperbaton.decode.diagnose import diagnose as run


def diagnose(
    system: Annotated[Path, Argument("SYSTEM", "A translation system."), READS],
    source: Annotated[str, Argument("SRC", "Tokenized source text."), READS],
    reference: Annotated[str, Argument("REF", "Its reference translations."), READS],
    *,
    links: Annotated[
        str | None,
        Flag("Word links of SRC and REF: also test orientation models on phrase pairs extracted from them."),
        READS,
    ] = None,
    options: SystemOptions,
    flags: DecodingFlags,  # type: ignore[valid-type]
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Distinguish model errors from search errors, by the longest jump that the reference needs.

    Only references that the phrase table can produce are counted. A second table shows how often the orientation models
    predict the classes of the phrases in translations and references, and in phrase pairs extracted with --links.

    Examples:

        hyperbaton diagnose system dev.zh dev.en --distortion-limit 6
        hyperbaton diagnose system dev.zh dev.en --links dev.links
    """
    loaded = options.load(system)
    with common.bars() as bars, options.naming_inputs(source):
        lines = list(read_sentences(source, lenient=True))
        references = read_beside(reference, source, len(lines))
        diagnosis = run(
            loaded,
            lines,
            references,
            changed(loaded, flags),
            annotations=options.annotations(source, lines),
            links=None if links is None else Links.read(links, Text.of(lines), Text.of(references)),
            threads=common.n_threads,
            progress=bars.stage("diagnose"),
        )
    if as_json:
        print_json(diagnosis.as_json())
        return
    ends = [*(str(jump - 1) for jump in JUMPS[1:]), ""]
    print_table(
        [
            {"longest jump": f"{jump}–{end}" if end != str(jump) else end, **verdicts}
            for (jump, verdicts), end in zip(diagnosis.as_json()["by_jump"].items(), ends, strict=True)
        ]
    )
    print_table(list(_prediction_rows(diagnosis.predictions.as_json())))
    say(
        f"{diagnosis.reachable:,} of {counted(diagnosis.sentences, 'reference')} can be reached; "
        f"the limits cut {100 * diagnosis.cut_fraction:.1f}% of all extensions",
        common.quiet,
    )


def _prediction_rows(figures: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows for all phrases of each kind, and for those of each class that occurs."""
    for entry in figures:
        for name, sums in {"all": entry, **entry["classes"]}.items():
            if sums["n"]:
                yield {
                    **{key: entry[key] for key in ("model", "side", "phrases")},
                    "class": name,
                    "n": sums["n"],
                    **{key: round(sums[key], 1) for key in ("correct", "confidence")},
                    "log p": round(sums["mean_logprob"], 3),
                }
