"""The verb `explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.cli import Json
from hyperbaton.cli._common import print_json
from hyperbaton.evaluate.explain import Explanation, explain_phrase, explain_sentence
from hyperbaton.models import load_model


def explain(
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A trained model.")],
    *,
    phrase: Annotated[str | None, typer.Option(help="Source phrase: what was learned about it.")] = None,
    sentence: Annotated[str | None, typer.Option(help="Source sentence: which movements are expected, and why.")] = None,
    span: Annotated[str | None, typer.Option(help="Only this part of the sentence, e.g. 2-4: its words 2 and 3.")] = None,
    target: Annotated[str, typer.Option(help="Target phrase of the span.")] = "",
    top: Annotated[int, typer.Option(help="Features told for each class.", min=1)] = 8,
    as_json: Json = False,
) -> None:
    """Say what a model learned about a phrase, or why it expects a movement in a sentence.

    Examples:

        hyperbaton explain mms --phrase "的 规定"

        hyperbaton explain mms --sentence "依 本 法 的 规定" --span 3-5 --target provisions
    """
    model = load_model(folder)
    if phrase is not None and sentence is not None:
        raise OptionError("give --phrase or --sentence, not both")
    if phrase is None and sentence is None:
        counts = dict(zip(model.class_names, model.class_counts_.tolist(), strict=True))
        print_json({"model": model.name, "options": to_mapping(model), "samples": counts})
        return
    if phrase is not None:
        found = [explain_phrase(model, phrase, top)]
    else:
        found = explain_sentence(model, sentence or "", _parse_span(span), target, top)
    if as_json:
        print_json([explanation.as_json() for explanation in found])
        return
    for explanation in found:
        _show(explanation)


def _parse_span(span: str | None) -> tuple[int, int] | None:
    if span is None:
        return None
    begin, _, end = span.partition("-")
    if not (begin.isdigit() and end.isdigit()):
        raise OptionError(f"a span is two numbers like 2-4, not {span!r}")
    return int(begin), int(end)


def _show(told: Explanation) -> None:
    where = "" if told.span is None else f"{told.span[0]}-{told.span[1]} "
    print(f"{where}{told.phrase}{'' if told.target is None else f' → {told.target}'}: {told.expected}")
    for name, probability in told.probabilities.items():
        count = "" if told.counts is None else f"{told.counts[name]:>8} samples"
        print(f"  {name:<8} p = {probability:.3f} {count}")
        for feature, weight in told.features.get(name, []):
            print(f"      {weight:+.3f}  {feature}")
