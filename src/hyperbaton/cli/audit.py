from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from hyperbaton.align import Aligner, WordAligner, load_aligner
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.forms import JsonObject
from hyperbaton.cli._common import print_json, print_table, say, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Seed, Verify
from hyperbaton.cli._raw import Languages
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Annotations, Bitext, Text
from hyperbaton.corpus.files import shown, write_pieces
from hyperbaton.corpus.processing import TextSide
from hyperbaton.corpus.text import joined
from hyperbaton.evaluate.audit import REFERENCE, Audit
from hyperbaton.evaluate.audit import audit as measure
from hyperbaton.models import NextPositionModel, load_model


def audit(
    source: Annotated[str, Argument("SRC", "Source text."), READS],
    reference: Annotated[str, Argument("REF", "Reference translation; - if there is none."), READS],
    *,
    systems: Annotated[list[str], Flag("Translations, a file for each system.", metavar="FILE..."), READS],
    aligner: Annotated[Path | None, Flag("Saved aligner, hmm or neural."), READS] = None,
    train: Annotated[
        tuple[str, str] | None, Flag("Train an aligner on this bitext and the audited texts.", metavar="SRC TGT"), READS
    ] = None,
    jumps: Annotated[Path | None, Flag("Trained jump model, which judges orders without a reference."), READS] = None,
    calibrate: Annotated[
        tuple[str, str] | None,
        Flag("Pairs whose orders count as usual [default: those of --train].", metavar="SRC TGT"),
        READS,
    ] = None,
    languages: Languages = None,
    source_tags: Annotated[str | None, Flag("Tags of the source words: also count movements by tag."), READS] = None,
    output: Annotated[Path | None, Flag("Page to write.", "-o"), WRITES_FILE] = None,
    per_line: Annotated[bool, Flag("Print the findings of each sentence, one line for each system.")] = False,
    samples: Annotated[int, Flag("Number of samples drawn for intervals and p-values.", minimum=1)] = 1000,
    verify: Verify = False,
    seed: Seed = 0,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Judge the word order and completeness of translations by any system.

    An aligner links the source with the reference and with each system's translation; nothing else of the systems is
    needed. Prints scores with intervals, each system compared with the first; which movements of the reference each
    system makes; and words without a translation or a source, beside the same figures of the reference, which are the
    aligner's error. -o writes a page that shows the sentences whose orders differ most. Without a reference, --jumps
    says how probable each order is, and which words it expected.

    --per-line prints tab-separated findings of each sentence, with --json one object per line.

    Examples:

        hyperbaton audit t.ja t.en --systems a.en b.en --aligner ja-en -o page.html
        hyperbaton audit t.ja t.en --systems a.en --train n.ja n.en --source-tags pos
        hyperbaton audit t.ja - --systems a.en --aligner ja-en --jumps sequence
        hyperbaton audit t.ja t.en --systems a.en --aligner ja-en --per-line > a.tsv
    """
    if (aligner is None) == (train is None):
        raise OptionError("give --aligner MODEL, or --train SRC TGT to train one")
    verify_artefacts(verify, *(path for path in (aligner, jumps) if path is not None))

    def read(path: str, side: int) -> Text:
        return Text.read(path) if languages is None else TextSide.parse(languages[side]).read(path)

    src, ref = read(source, 0), None if reference == "-" else read(reference, 1)
    texts = {shown(path): read(path, 1) for path in systems}
    training = None if train is None else Bitext(read(train[0], 0), read(train[1], 1))
    usual = training if calibrate is None else Bitext(read(calibrate[0], 0), read(calibrate[1], 1))
    model = None if jumps is None else load_model(jumps)
    if model is not None and not isinstance(model, NextPositionModel):
        raise OptionError(f"--jumps needs a jump model such as pair or sequence; {jumps} is a model {model.name}")
    with common.bars() as bars:
        linker: WordAligner = Aligner()
        if training is not None:
            every = [*([] if ref is None else [ref]), *texts.values()]
            added = Bitext(joined([training.source, *[src] * len(every)]), joined([training.target, *every]))
            linker.fit(added, threads=common.n_threads, progress=bars.stage("learn"))
        elif aligner is not None:
            linker = load_aligner(aligner)
        audited = measure(
            src,
            ref,
            texts,
            linker,
            annotations=Annotations.read({"source_tags": source_tags}, src),
            jumps=model,
            calibration=usual if model is not None else None,
            samples=samples,
            seed=seed,
            threads=common.n_threads,
            progress=bars.stage("link"),
        )
    for side, known in zip(("source", "target"), audited.known, strict=True):
        say(f"{1 - known:.1%} of the {side} words are unknown to the aligner", common.quiet)
    for name, text in texts.items():
        if n_empty := int((text.lengths == 0).sum()):
            say(f"{name}: {counted(n_empty, 'empty line')}, all of whose source words are missing", common.quiet)
    if output is not None:
        from hyperbaton.report.audit import audit_page

        write_pieces(output, [audit_page(audited, f"{shown(source)}: {', '.join(texts)}").encode()])
        say(f"wrote {output}", common.quiet)
    if per_line:
        _print_lines(audited, as_json)
    elif as_json:
        print_json(audited.as_json())
    else:
        print_table([row for measured in audited.measures for row in _measure(measured)])
        if audited.movements:
            print()
            print_table([_movement(row) for row in audited.movements])


def _measure(measured: JsonObject) -> Iterator[JsonObject]:
    """A measure as rows of a table, one for each text."""
    yardstick = {REFERENCE: measured["reference"]} if "reference" in measured else {}
    for name, of in {**measured["systems"], **yardstick}.items():
        low, high = of["interval"]
        row = {
            "measure": measured["measure"],
            "text": name,
            "value": f"{of['value']:.2f}",
            "95%": f"{low:.2f} to {high:.2f}",
        }
        compared = (
            {"delta": f"{of['delta']:+.2f}", "p": f"{of['p']:.3f}", "p_holm": f"{of['p_holm']:.3f}"} if "p" in of else {}
        )
        worse = {"worse than the reference": "yes" if name in measured.get("beyond_reference", ()) else ""}
        yield row | {column: compared.get(column, "") for column in ("delta", "p", "p_holm")} | worse


def _movement(row: JsonObject) -> JsonObject:
    """Recall and precision of a kind of movement as a row of a table."""
    shares = {f"{title} {name}": round(of[title], 1) for name, of in row["systems"].items() for title in of}
    return {"by": row["by"], "movement": row["movement"], "n": row["n"], **shares}


def _print_lines(audited: Audit, as_json: bool) -> None:
    for n, row in enumerate(audited.rows()):
        if as_json:
            print(json.dumps(row, ensure_ascii=False))
            continue
        if n == 0:
            print(*row, sep="\t")
        cells = ("; ".join(cell) if isinstance(cell, list) else "" if cell is None else cell for cell in row.values())
        print(*cells, sep="\t")
