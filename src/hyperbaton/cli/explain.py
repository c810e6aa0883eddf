from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, make_dataclass
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import from_mapping, options_of
from hyperbaton.cli._common import print_json, print_table, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Verify
from hyperbaton.evaluate import Question
from hyperbaton.evaluate import explain as ask
from hyperbaton.models import MODELS, Questions, ReorderingModel, load_model
from hyperbaton.phrases import RuleTable


def chosen_options(words: Sequence[str]) -> dict[str, type]:
    """The questions of all kinds of models (`ReorderingModel.questions`) combined.

    All models are imported only if the command line has a flag that the command itself does not define.
    """
    declared = {name: get_args(kind)[1:2] for name, kind in get_type_hints(explain, include_extras=True).items()}
    own = {flag for name, infos in declared.items() for info in infos for flag in info.flags(name)}
    if {word.partition("=")[0] for word in words if word.startswith("-")} <= own:
        return {}
    kinds = dict.fromkeys(MODELS[name].questions for name in MODELS)
    columns = [(field.name, get_type_hints(kind)[field.name], field) for kind in kinds for field in fields(kind)]
    return {"about": make_dataclass("AnyQuestions", columns, bases=(Questions,), frozen=True)}


def explain(
    folder: Annotated[str, Argument("DIR", "A trained model, or hierarchical rules."), READS],
    *,
    phrase: Annotated[str | None, Flag("Source phrase to explain.", metavar="WORDS")] = None,
    sentence: Annotated[str | None, Flag("Source sentence to explain.", metavar="WORDS")] = None,
    span: Annotated[str | None, Flag("Explain only this span, e.g. 2-4 for words 2 and 3.", metavar="N-N")] = None,
    target: Annotated[str, Flag("Target phrase of the span.", metavar="WORDS")] = "",
    translated: Annotated[
        str | None, Flag("Words already translated, for models that use the coverage, e.g. 0-3,5.", metavar="N-N,…")
    ] = None,
    top: Annotated[int, Flag("Number of phrases to show, and of features for each.", minimum=1)] = 5,
    everything: Annotated[bool, Flag("Show every phrase of the sentence, with all classes.", "--all")] = False,
    source_tags: Annotated[str | None, Flag("A tag for each word of the sentence, as text.", metavar="TAGS")] = None,
    links: Annotated[str | None, Flag("Links to a translation, e.g. '0-0 2-1 1-2'.", metavar="LINKS")] = None,
    about: Questions,
    output: Annotated[Path | None, Flag("Picture of the jumps: .svg, .png or .pdf.", "-o"), WRITES_FILE] = None,
    verify: Verify = False,
    as_json: Json = False,
) -> None:
    """Show what a model learned about a phrase, or why it expects a movement in a sentence.

    For a sentence: how many of its phrases are expected to move in which way, then the phrases whose expected movement
    differs from that of most, the most certain first. Without --phrase and --sentence: the model's options and sizes.

    For a jump model: P(next word | current word) for a sentence, and a visit order through it, given by the links or by
    always moving to the most probable remaining word. For a block model: its strongest features, all or those of a family
    or source phrase, and the jumps of a tag. For hierarchical rules: those that contain the phrase, the most frequent
    first, or those that apply in the sentence, the longest first.

    Examples:

        hyperbaton explain mms --phrase "的 规定"
        hyperbaton explain mms --sentence "依 本 法 的 规定" --span 3-5 --target provisions
        hyperbaton explain dpr --sentence "依 本 法 的 规定" --span 3-5 --translated 0-1
        hyperbaton explain pair --sentence "hon o katta" --links "0-1 2-0" -o jump.svg
        hyperbaton explain block --family sibling-word --phrase 的 --sort count --top 9
        hyperbaton explain block --tag NT -o nt.svg
        hyperbaton explain rules --sentence "依 本 法 的 规定" --top 20
    """
    verify_artefacts(verify, folder)
    model = RuleTable.load(folder) if RuleTable.is_saved_at(folder) else load_model(folder)
    question = Question(
        phrase=phrase,
        sentence=sentence,
        span=_parse_span(span),
        target=target,
        translated=_parse_words(translated),
        top=top,
        everything=everything,
        source_tags=source_tags,
        links=links,
        about=_questions_for(model, about),
    )
    answer = ask(model, question)
    if output is not None:
        from hyperbaton.report.figures import write_figure
        from hyperbaton.report.jumps import figure_of

        write_figure(figure_of(answer), output)
    if as_json:
        print_json(answer.as_json())
        return
    for part in answer.parts():
        if isinstance(part, str):
            print(part)
        else:
            print_table(part)


def _questions_for(model: ReorderingModel | RuleTable, about: Questions) -> Questions:
    """The questions asked, as declared by the model; rules have none."""
    kind, name = (Questions, "rules") if isinstance(model, RuleTable) else (model.questions, f"the model {model.name}")
    values = [(opt, getattr(about, opt.name)) for opt in options_of(type(about))]
    asked = {opt.flag: value for opt, value in values if value != opt.default}
    known = {opt.flag for opt in options_of(kind)}
    if other := [flag for flag in asked if flag not in known]:
        raise OptionError(f"--{other[0]} is not for {name}: give --phrase or --sentence")
    return from_mapping(kind, asked)


def _parse_span(span: str | None) -> tuple[int, int] | None:
    if span is None:
        return None
    begin, _, end = span.partition("-")
    if not (begin.isdigit() and end.isdigit()):
        raise OptionError(f"expected a span like 2-4, found {span!r}")
    return int(begin), int(end)


def _parse_words(words: str | None) -> tuple[int, ...] | None:
    """Parse words and spans of words: 0-3,5 are 0, 1, 2 and 5."""
    if words is None:
        return None
    found: list[int] = []
    for part in words.split(",") if words else []:
        begin, dash, end = part.partition("-")
        if not begin.isdigit() or (dash and not end.isdigit()):
            raise OptionError(f"expected words like 0-3,5, found {words!r}")
        found += range(int(begin), int(end) if dash else int(begin) + 1)
    return tuple(found)
