"""The command `system`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli import Force, Json, Quiet, Verify
from hyperbaton.cli._common import print_json, say, verify_artefacts
from hyperbaton.cli._paths import READS, WRITES_ARTEFACT, Reads
from hyperbaton.cli._system import (
    Copy,
    DecodingFlags,
    SourceText,
    TargetText,
    Weights,
    changed,
    parse_pairs,
    parse_text,
    parse_weights,
)
from hyperbaton.decode import System
from hyperbaton.decode.assemble import assemble
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.system import KIND

HELP_GROUP = "Translate"


def _parts(named: str) -> list[str]:
    """Find the paths of a reordering model: NAME=DIR, NAME=TYPE:FILE, NAME=TYPE:BEFORE,AFTER, NAME=sparse:…:KEY=FILE."""
    value = named.partition("=")[2]
    return [value, *(path.rpartition("=")[2] for part in value.split(":")[1:] for path in part.split(","))]


def system(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Artefact to write."), WRITES_ARTEFACT],
    phrases: Annotated[Path | None, typer.Option(help="Phrases of 'hyperbaton extract', or a Moses table."), READS] = None,
    rules: Annotated[
        Path | None,
        typer.Option(help="Rules of 'hyperbaton extract --hierarchical', or a Moses rule table, instead of phrases."),
        READS,
    ] = None,
    lm: Annotated[list[Path] | None, typer.Option(help="Language model or ARPA file; may be repeated."), READS] = None,
    reordering: Annotated[
        list[str] | None,
        typer.Option(help="NAME=DIR for a model, NAME=TYPE to count a table, NAME=TYPE:FILE to read one; may be repeated."),
        Reads(_parts),
    ] = None,
    scaled: Annotated[
        list[str] | None,
        typer.Option(help="NAME=β: use the model to scale the distance, −d/(βp), instead of adding log p."),
    ] = None,
    inside: Annotated[
        list[str] | None, typer.Option(help="NAME: also score this model's jumps inside phrase pairs.")
    ] = None,
    weights_per_class: Annotated[
        list[str] | None, typer.Option(help="NAME: give this orientation model a weight for each class.")
    ] = None,
    moses_ini: Annotated[Path | None, typer.Option(help="Take everything from this moses.ini."), READS] = None,
    from_system: Annotated[
        Path | None, typer.Option("--from", metavar="SYSTEM", help="Take everything from this system."), READS
    ] = None,
    source_text: SourceText = None,
    target_text: TargetText = None,
    copy: Copy = False,
    force: Force = False,
    verify: Verify = False,
    weight: Weights = None,
    flags: DecodingFlags,  # type: ignore[valid-type]
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Assemble a translation system from phrases, language models and reordering models.

    The system refers to its parts by path: move it together with them, or use --copy. Parts read from Moses' text files
    are always copied. --from OLD --copy makes a system that can be moved alone, for example into a container.

    A TYPE is a lexicalized reordering table by its Moses name, for example hier-mslr-bidirectional-fe, or
    sparse:hier-mslr for sparse features of words and classes, which are weighted by tune --optimizer mira or pro.
    NAME=TYPE:BEFORE,AFTER makes a table from two trained lexicalized models.

    Examples:

        hyperbaton system -o system --phrases phrases --lm lm --reordering LR=hier-mslr-bidirectional-fe

        hyperbaton system -o system --phrases phrases --lm lm.arpa.gz --reordering SEQ=sequence --weight SEQ=0.5

        hyperbaton system -o hiero --rules rules --lm lm --max-span 20

        hyperbaton system -o system --moses-ini model/moses.ini --source-text de:tokenizer=sacremoses --target-text en

        hyperbaton system -o portable --from tuned --copy
    """
    own = phrases or rules or lm or reordering or scaled or inside or weights_per_class
    for flag, given in (("--moses-ini", moses_ini), ("--from", from_system)):
        if given is not None and (own or (moses_ini and from_system)):
            raise OptionError(
                f"{flag} names all parts: do not give --phrases, --rules, --lm, --reordering or another source with it"
            )
    if phrases is not None and rules is not None:
        raise OptionError("a system has --phrases or --rules, not both")
    if rules is not None and scaled:
        raise OptionError("--scaled scales the distance, which a system with --rules does not have")
    check_artefact(output, KIND, force=force)
    trained = parse_pairs(reordering, "--reordering")
    text = parse_text(source_text, target_text)
    tables = [path for path in (phrases, rules) if path is not None]
    verify_artefacts(verify, *tables, *(lm or []), *trained.values())
    if moses_ini is not None:
        made = import_moses(moses_ini).with_weights(parse_weights(weight))
    elif from_system is not None:
        verify_artefacts(verify, from_system)
        made = System.load(from_system).with_weights(parse_weights(weight))
    elif tables:
        betas = parse_weights(scaled, "--scaled")
        made = assemble(
            phrases,
            lm or [],
            trained,
            weights=parse_weights(weight),
            scaled={name: b[0] if isinstance(b, list) else b for name, b in betas.items()},
            inside=inside or [],
            per_class=weights_per_class or [],
            rules=rules,
        )
    else:
        raise OptionError("nothing to assemble: give --phrases, --rules, --moses-ini or --from")
    made = made.with_options(changed(made, flags))
    if text is not None:
        made = made.with_text(text)
    made.save(output, copy=copy)
    tell(made, quiet, as_json)


def tell(made: System, quiet: bool, as_json: bool) -> None:
    """Describe the content of a system."""
    if as_json:
        print_json({"pairs": len(made.table), "weights": dict(made.weights)})
    else:
        pairs = counted(len(made.table), "rule" if made.is_hierarchical else "phrase pair")
        say(f"{pairs}; features: {', '.join(made.features)}", quiet)
