"""The verb `translate`."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.progress import Bars
from hyperbaton.cli import Quiet, Threads
from hyperbaton.cli._common import n_threads
from hyperbaton.cli._system import (
    DecodingFlags,
    SourceTags,
    SourceTrees,
    Weights,
    changed,
    naming_annotations,
    parse_weights,
)
from hyperbaton.corpus import read_tree_lines
from hyperbaton.corpus.files import read_byte_lines, read_lines
from hyperbaton.decode import NBest, System, Translator
from hyperbaton.decode.trace import TRACED, traces


def translate(
    system: Annotated[Path, typer.Argument(metavar="SYSTEM", help="A translation system.")],
    source: Annotated[str, typer.Argument(metavar="SRC", help="Tokenized source text.")] = "-",
    *,
    source_tags: SourceTags = None,
    source_trees: SourceTrees = None,
    nbest: Annotated[int, typer.Option(help="Write so many translations of each sentence, in Moses' format.", min=0)] = 0,
    distinct: Annotated[bool, typer.Option(help="n-best: different translations only.")] = False,
    alignment: Annotated[bool, typer.Option(help="n-best: say which phrase became which.")] = False,
    trace: Annotated[
        Path | None, typer.Option(help="Write how each translation came about, one JSON object a line.")
    ] = None,
    links: Annotated[
        Path | None, typer.Option(help="Write the links of each translation to its source, for 'hyperbaton score'.")
    ] = None,
    search_graph: Annotated[Path | None, typer.Option(help="Write every hypothesis that survived.")] = None,
    weight: Weights = None,
    flags: DecodingFlags,  # type: ignore[valid-type]
    threads: Threads = 0,
    quiet: Quiet = False,
) -> None:
    """Translate tokenized sentences, one line out for each line in.

    Examples:

        hyperbaton translate system < test.zh > test.hyp

        hyperbaton translate system test.zh --source-tags test.zh.pos --source-trees test.zh.trees > test.hyp

        hyperbaton translate system test.zh --nbest 100 --distinct --distortion-limit -1 > test.nbest
    """
    loaded = System.load(system).with_weights(parse_weights(weight))
    translator = Translator(loaded, changed(loaded, flags), threads=n_threads(threads))
    lines = (line.decode("utf-8", "replace") for line in read_byte_lines(source))
    wanted = NBest(max(nbest, TRACED if trace else 1), distinct and not trace)
    with ExitStack() as stack:
        bars = stack.enter_context(Bars(quiet))
        stack.enter_context(naming_annotations(source_tags, source_trees))
        progress = bars.stage("translate")
        told = stack.enter_context(trace.open("w", encoding="utf-8")) if trace else None
        linked = stack.enter_context(links.open("wb")) if links else None
        graph = stack.enter_context(search_graph.open("w", encoding="utf-8")) if search_graph else None
        done = 0
        # Somebody who types wants an answer to each line.
        block = 1 if source == "-" and sys.stdin.isatty() else 256
        tags = None if source_tags is None else read_lines(source_tags)
        trees = None if source_trees is None else read_tree_lines(source_trees)
        for found in translator.blocks(lines, wanted, tags=tags, trees=trees, block=block, graph=graph is not None):
            rows = found.nbest(done, alignment, nbest) if nbest else found.lines()
            sys.stdout.writelines(f"{row}\n" for row in rows)
            sys.stdout.flush()
            if told is not None:
                told.writelines(json.dumps(item, ensure_ascii=False) + "\n" for item in traces(found, done))
            if linked is not None:
                linked.writelines(found.links().pieces())
            if graph is not None:
                graph.writelines(f"{row}\n" for row in found.graph(done))
            done += len(found)
            progress(done, done)
