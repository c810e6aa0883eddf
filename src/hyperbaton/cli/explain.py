"""The verb `explain`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.cli import Json, Verify
from hyperbaton.cli._common import print_json, print_table, verify_artefacts
from hyperbaton.evaluate import Question
from hyperbaton.evaluate import explain as ask
from hyperbaton.models import load_model


def explain(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A trained model.")],
    *,
    phrase: Annotated[str | None, typer.Option(help="Source phrase: what was learned about it.")] = None,
    sentence: Annotated[str | None, typer.Option(help="Source sentence: which movements are expected, and why.")] = None,
    span: Annotated[str | None, typer.Option(help="Only this part of the sentence, e.g. 2-4: its words 2 and 3.")] = None,
    target: Annotated[str, typer.Option(help="Target phrase of the span.")] = "",
    top: Annotated[int, typer.Option(help="Phrases of a sentence that are shown, and features of each.", min=1)] = 5,
    everything: Annotated[bool, typer.Option("--all", help="Show every phrase of the sentence, with all classes.")] = False,
    source_tags: Annotated[str | None, typer.Option(help="A tag for each word of the sentence, as text.")] = None,
    links: Annotated[str | None, typer.Option(help="Links of the sentence to a translation, e.g. '0-0 2-1 1-2'.")] = None,
    family: Annotated[str | None, typer.Option(help="block_me: features of this family, e.g. sibling-word.")] = None,
    tag: Annotated[
        str | None, typer.Option(help="block_me: how far words with this tag jump; with -o as a picture.")
    ] = None,
    sort: Annotated[str, typer.Option(help="block_me: features by weight or by count.")] = "weight",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Picture of the jumps: .svg, .png or .pdf.")] = None,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Say what a model learned about a phrase, or why it expects a movement in a sentence.

    Of a sentence, first what is expected for how many of its phrases, then the phrases that stand out: those for which
    another movement is expected than for most, the most certain ones first. Without --phrase and --sentence, the model's
    options and sizes.

    For a model of jumps: P(next word | current word) of a sentence, and a visit order through it, that of the links or else
    always the most probable word that is left. For a block model: its strongest features, all or those of a family or
    source phrase, and the jumps of a tag.

    Examples:

        hyperbaton explain mms --phrase "的 规定"

        hyperbaton explain mms --sentence "依 本 法 的 规定" --span 3-5 --target provisions

        hyperbaton explain pair --sentence "kare wa hon o katta" --links "0-0 4-1 2-2" -o jumps.svg

        hyperbaton explain block --family sibling-word --phrase 的 --sort count --top 20

        hyperbaton explain block --tag NT -o nt.svg
    """
    verify_artefacts(verify, folder)
    question = Question(
        phrase=phrase,
        sentence=sentence,
        span=_parse_span(span),
        target=target,
        top=top,
        everything=everything,
        source_tags=source_tags,
        links=links,
        family=family,
        tag=tag,
        sort=sort,
    )
    answer = ask(load_model(folder), question)
    if output is not None:
        from hyperbaton.report.answers import figure_of
        from hyperbaton.report.figures import write_figure

        write_figure(figure_of(answer), output)
    if as_json:
        print_json(answer.as_json())
        return
    for part in answer.parts():
        if isinstance(part, str):
            print(part)
        else:
            print_table(part)


def _parse_span(span: str | None) -> tuple[int, int] | None:
    if span is None:
        return None
    begin, _, end = span.partition("-")
    if not (begin.isdigit() and end.isdigit()):
        raise OptionError(f"a span is two numbers like 2-4, not {span!r}")
    return int(begin), int(end)
