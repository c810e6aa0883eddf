"""The verb `explain`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.cli import Json, Verify
from hyperbaton.cli._common import print_json, print_table, verify_artefacts
from hyperbaton.evaluate.explain import Explanation, explain_phrase, explain_sentence, stand_out
from hyperbaton.evaluate.explain_blocks import BlockFeature, explain_blocks
from hyperbaton.evaluate.explain_jumps import JumpExplanation, explain_jumps
from hyperbaton.models import MODELS, NextPositionModel, OrientationModel, ReorderingModel, load_model
from hyperbaton.models._block_table import JUMPS
from hyperbaton.models.block_me import BlockMe


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
    model = load_model(folder)
    if phrase is not None and sentence is not None:
        raise OptionError("give --phrase or --sentence, not both")
    if isinstance(model, BlockMe) and (phrase or family or tag):
        if tag is not None:
            _tell_tag(model, tag, output, as_json)
        else:
            _tell_features(explain_blocks(model, family=family, source=phrase, top=top, sort=sort), as_json)
        return
    if phrase is None and sentence is None:
        _tell_model(model, as_json)
        return
    if isinstance(model, NextPositionModel):
        if sentence is None:
            raise OptionError(f"the model {model.name} knows words in sentences, no phrases: give --sentence")
        _tell_jumps(explain_jumps(model, sentence, source_tags, links), output, as_json)
        return
    if not isinstance(model, OrientationModel):
        raise OptionError(f"the model {model.name} is of a shape that cannot be explained")
    if phrase is not None:
        found = [explain_phrase(model, phrase, top)]
    else:
        found = explain_sentence(model, sentence or "", _parse_span(span), target, top)
    if as_json:
        print_json([explanation.as_json() for explanation in found])
        return
    if phrase is not None:
        _show(found[0])
        return
    if span is None:
        _tell_summary(found, model, top if not everything else len(found))
    for explanation in found if everything or span else stand_out(found)[:top]:
        (_show if everything or span else _show_briefly)(explanation)


def _tell_model(model: ReorderingModel, as_json: bool) -> None:
    """What a model is: its name, what it was trained on, its options."""
    if as_json:
        print_json({"model": model.name, "options": to_mapping(model), **model.summary()})
        return
    print(f"{model.name}: {MODELS.describe(model.name)}")
    sizes = {name: value for name, value in model.summary().items() if not isinstance(value, dict | list)}
    print_table([{"trained on": name.replace("_", " "), "value": value} for name, value in sizes.items()])
    print_table([{"option": name, "value": "" if v is None else v} for name, v in to_mapping(model).items()])


def _tell_summary(found: list[Explanation], model: OrientationModel, n_shown: int) -> None:
    if not found:
        print(f"no phrase of the sentence has enough training samples for {model.name}; --span asks about any phrase")
        return
    counts = Counter(explanation.expected for explanation in found)
    expected = ", ".join(f"{name} for {count}" for name, count in counts.most_common())
    print(f"{len(found)} phrases of the sentence are known; expected: {expected}")
    if n_shown < len(found):
        print(f"the {n_shown} that stand out (--all shows every one):")


def _tell_features(told: list[BlockFeature], as_json: bool) -> None:
    """A row for each feature, in the columns of XI11 Tables 1 and 5; cells that say nothing are left out."""
    if as_json:
        print_json([feature.as_json() for feature in told])
        return
    rows = [
        {
            "count": feature.count,
            "exp λ": round(feature.alpha, 2),
            "j": feature.jump,
            "target": feature.target or "∅",
            "source": feature.source,
            "asked": feature.asked,
            "node": feature.node or "",
            "coverage": "" if feature.coverage is None else feature.coverage,
            "orientation": "" if feature.orientation is None else feature.orientation,
        }
        for feature in told
    ]
    print_table([{key: row[key] for key in row if any(other[key] != "" for other in rows)} for row in rows])


def _tell_tag(model: BlockMe, tag: str, output: Path | None, as_json: bool) -> None:
    from hyperbaton.report.block_jumps import draw_tag_jumps
    from hyperbaton.report.figures import write_figure

    figure = draw_tag_jumps(model, tag)
    if output is not None:
        write_figure(figure, output)
    counts = model.table_.tag_jumps[model.tag_vocabulary_.number(tag)] if model.tag_vocabulary_ else []
    rows = [{"jump": jump, "count": int(count)} for jump, count in zip(JUMPS, counts, strict=True)]
    (print_json if as_json else print_table)(rows)


def _tell_jumps(told: JumpExplanation, output: Path | None, as_json: bool) -> None:
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.jumps import draw_jumps

        write_figure(draw_jumps(told), output)
    if as_json:
        print_json(told.as_json())
        return
    print(f"{'given' if told.given else 'expected'} order, log p = {told.logprob:.3f}")
    print(f"  {' '.join(told.name(position) for position in told.order)}")
    for i, j in told.jumps:
        row = told.probabilities[i + 1]
        best = int(row.argmax())
        instead = "" if best == j else f"   more probable: {told.name(best)} {row[best]:.3f}"
        print(f"  {told.name(i)} → {told.name(j)}   p = {row[j]:.3f}{instead}")


def _parse_span(span: str | None) -> tuple[int, int] | None:
    if span is None:
        return None
    begin, _, end = span.partition("-")
    if not (begin.isdigit() and end.isdigit()):
        raise OptionError(f"a span is two numbers like 2-4, not {span!r}")
    return int(begin), int(end)


def _where(told: Explanation) -> str:
    where = "" if told.span is None else f"{told.span[0]}-{told.span[1]} "
    return f"{where}{told.phrase}{'' if told.target is None else f' → {told.target}'}: {told.expected}"


def _show_briefly(told: Explanation) -> None:
    """One line for the phrase, and the features that speak for what is expected."""
    samples = "" if told.counts is None else f", {sum(told.counts.values())} samples"
    print(f"{_where(told)}, p = {told.probabilities[told.expected]:.3f}{samples}")
    for feature, weight in told.features.get(told.expected, []):
        print(f"      {weight:+.3f}  {feature}")


def _show(told: Explanation) -> None:
    print(_where(told))
    for name, probability in told.probabilities.items():
        count = "" if told.counts is None else f"{told.counts[name]:>8} samples"
        print(f"  {name:<8} p = {probability:.3f} {count}")
        for feature, weight in told.features.get(name, []):
            print(f"      {weight:+.3f}  {feature}")
