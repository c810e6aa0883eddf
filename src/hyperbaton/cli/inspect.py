from __future__ import annotations

import shutil
from itertools import islice
from pathlib import Path
from typing import Annotated

from hyperbaton.align import Aligner, StoredScores, load_aligner, pair_gains
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import InputError, OptionError
from hyperbaton.cli._common import print_json, say, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Seed, Verify
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.files import read_sentences, write_pieces
from hyperbaton.decode import NBest, System, TokenTranslator
from hyperbaton.decode.records import piece_record


def inspect(
    source: Annotated[str, Argument("SRC", "Tokenized source text."), READS],
    target: Annotated[str | None, Argument("TGT", "Tokenized target text; not with --system."), READS] = None,
    links: Annotated[str | None, Argument("LINKS", "Word links; not with --system."), READS] = None,
    *,
    output: Annotated[
        Path | None, Flag("Picture to write, .svg, .png or .pdf; .html with --sample.", "-o"), WRITES_FILE
    ] = None,
    line: Annotated[int, Flag("Number of the sentence pair, from 1.", "-n", minimum=1)] = 1,
    max_length: Annotated[int, Flag("Longest phrase, in words.", minimum=1, maximum=255)] = 8,
    every_box: Annotated[bool, Flag("Draw every phrase pair, not only the smallest.", "--all")] = False,
    system: Annotated[Path | None, Flag("Draw the line of SRC as translated by this system instead."), READS] = None,
    sample: Annotated[
        int | None, Flag("Write a page of this many sentence pairs, the least certain first.", minimum=1)
    ] = None,
    worst: Annotated[bool, Flag("With --sample: the worst pairs of the text instead of random ones.")] = False,
    scores: Annotated[str | None, Flag("With --sample: scores of these links, written by 'align --scores'."), READS] = None,
    model: Annotated[Path | None, Flag("With --sample: a saved aligner that scores the links."), READS] = None,
    verify: Verify = False,
    seed: Seed = 0,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Draw a sentence pair with links, phrase boxes and jumps; a translation with its rules; or a page of many pairs.

    Without -o a pair is drawn in characters, on stdout. With --json, print its words, links, visit order and phrase
    pairs. With --sample, one HTML page shows pairs with lines between linked words, whose strength shows the aligner's
    confidence, and highlights the item under the pointer. Scores come from --scores, --model, or an aligner trained on
    this text.

    With --system, the line is translated, and the picture shows the rules of its derivation, or its phrases: target words
    above, source words below, one colour for each rule, with thin bars over its gaps. Without -o they are drawn as a
    tree.

    Examples:

        hyperbaton inspect train.zh train.en train.links --line 12
        hyperbaton inspect train.zh train.en train.links --line 12 -o pair.svg
        hyperbaton inspect a.zh a.en a.links --sample 50 --worst -o page.html
        hyperbaton inspect test.zh --system hiero --line 12 -o derivation.svg
    """
    verify_artefacts(verify, *(path for path in (system, model) if path is not None))
    if system is not None:
        if target is not None or sample is not None or every_box:
            raise OptionError("--system translates a line of SRC: leave out TGT, LINKS, --sample and --all")
        _draw_translation(source, system, line, output, common, as_json)
        return
    if target is None or links is None:
        raise OptionError("a sentence pair needs SRC, TGT and LINKS; a translation needs SRC and --system")
    if sample is not None:
        from hyperbaton.report.pair_page import choose_shown, pair_page

        if output is None or output.suffix != ".html":
            raise OptionError("--sample writes a page: give -o PAGE.html")
        if scores is not None and model is not None:
            raise OptionError("give --scores or --model, not both")
        bitext = Bitext.read(source, target, links, empty=True)
        if len(bitext) == 0:
            raise InputError("no sentence pairs to show", bitext.source.path)
        stored = _read_scores(bitext, scores, model, common)
        chosen = choose_shown(pair_gains(bitext, stored.logprobs), sample, worst=worst, seed=seed)
        write_pieces(output, [pair_page(bitext, stored, chosen, f"{Path(source).name} – {Path(target).name}").encode()])
        say(f"wrote {output}", common.quiet)
        return
    if worst or scores or model:
        raise OptionError("--worst, --scores and --model are for a page of pairs: give --sample N")
    bitext = Bitext.read(source, target, links)
    if line > len(bitext):
        raise OptionError(f"--line {line}: {source} has {counted(len(bitext), 'line')}")
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.picture import draw_pair

        write_figure(draw_pair(bitext, line - 1, max_length=max_length, every_box=every_box), output)
        say(f"wrote {output}", common.quiet)
    if as_json:
        from hyperbaton.report.pair_text import describe_pair

        print_json(describe_pair(bitext, line - 1, max_length=max_length, every_box=every_box))
    elif output is None:
        from hyperbaton.report.pair_text import pair_text

        width = shutil.get_terminal_size().columns
        print(pair_text(bitext, line - 1, width=width, max_length=max_length, every_box=every_box), end="")


def _draw_translation(
    source: str, system: Path, line: int, output: Path | None, common: ThreadOptions, as_json: bool
) -> None:
    lines = list(islice(read_sentences(source, lenient=True), line))
    if line > len(lines):
        raise OptionError(f"--line {line}: {source} has {counted(len(lines), 'line')}")
    translations = TokenTranslator(System.load(system), threads=common.n_threads).translate_batch(lines[-1:], NBest())

    from hyperbaton.report.derivation import best_path, derivation_text, draw_derivation
    from hyperbaton.report.figures import write_figure

    path = best_path(translations)
    if output is not None:
        write_figure(draw_derivation(translations, path), output)
        say(f"wrote {output}", common.quiet)
    if as_json:
        print_json(piece_record(translations, 0))
    elif output is None:
        print(derivation_text(translations, path), end="")


def _read_scores(bitext: Bitext, scores: str | None, model: Path | None, common: ThreadOptions) -> StoredScores:
    """The scores of the links of a bitext: from a file, by a saved aligner, or by one trained on this text."""
    linked = bitext.need_links()
    if scores is not None:
        stored = StoredScores.read(scores)
        stored.check(len(bitext), linked)
        return stored
    with common.bars() as bars:
        aligner = load_aligner(model) if model is not None else Aligner()
        if model is None:
            aligner.fit(bitext, threads=common.n_threads, progress=bars.stage("learn"))
        judged = aligner.score(bitext, threads=common.n_threads, progress=bars.stage("score"))
    return StoredScores(judged.logprobs, judged.confidences, linked.offsets)
