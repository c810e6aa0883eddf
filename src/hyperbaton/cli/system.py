from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.outputs import check_artefact
from hyperbaton.cli._common import print_result, say, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_ARTEFACT, Flag, Force, Json, Quiet, Reads, Verify
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
from hyperbaton.decode.assemble import assemble, extend
from hyperbaton.decode.moses import import_moses
from hyperbaton.decode.system import KIND

MOST_UNKNOWN = 0.5  # share of words that a model of another text of the same language may not know


def _parts(named: str) -> list[str]:
    """Find the paths of a reordering model: NAME=DIR, NAME=TYPE:FILE, NAME=TYPE:BEFORE,AFTER:FILES, sparse:…:KEY=FILE."""
    value = named.partition("=")[2]
    return [value, *(path.rpartition("=")[2] for part in value.split(":")[1:] for path in part.split(","))]


def system(
    *,
    output: Annotated[Path, Flag("Artefact to write.", "-o"), WRITES_ARTEFACT],
    phrases: Annotated[Path | None, Flag("Phrases of 'hyperbaton extract', or a Moses table."), READS] = None,
    rules: Annotated[
        Path | None, Flag("Rules of 'hyperbaton extract --hierarchical', or a Moses rule table, instead of phrases."), READS
    ] = None,
    lm: Annotated[list[Path] | None, Flag("Language model or ARPA file; may be repeated."), READS] = None,
    reordering: Annotated[
        list[str] | None,
        Flag(
            "Reordering: NAME=DIR for a model, NAME=TYPE to count a table, NAME=TYPE:FILE to read one; may be repeated.",
            metavar="NAME=PART",
        ),
        Reads(_parts),
    ] = None,
    scaled: Annotated[
        list[str] | None, Flag("Use the model to scale the distance, −d/(βp), instead of adding log p.", metavar="NAME=β")
    ] = None,
    inside: Annotated[list[str] | None, Flag("Also score this model's jumps inside phrase pairs.", metavar="NAME")] = None,
    weights_per_class: Annotated[
        list[str] | None, Flag("Give this orientation model a weight for each class.", metavar="NAME")
    ] = None,
    moses_ini: Annotated[Path | None, Flag("Take everything from this moses.ini."), READS] = None,
    from_system: Annotated[
        Path | None, Flag("Take all parts and weights from this system.", "--from", metavar="SYSTEM"), READS
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

    --from OLD --reordering NAME=PART adds a model to a system, imported or tuned, which keeps its parts and weights; tune
    the new system to weight the model. A model that knows few words of the system's source phrases is warned about.

    A TYPE is a lexicalized reordering table by its Moses name, for example hier-mslr-bidirectional-fe, or
    sparse:hier-mslr for sparse features of words and classes, which are weighted by tune --optimizer mira or pro.
    NAME=TYPE:BEFORE,AFTER makes a table from two trained lexicalized models, NAME=TYPE:BEFORE,AFTER:SOURCE,TARGET,LINKS
    from other orientation models: their probabilities averaged over the samples of each phrase pair in that text.

    Examples:

        hyperbaton system -o new --phrases phrases --lm lm --reordering LR=hier-mslr
        hyperbaton system -o new --phrases phrases --lm lm --reordering SEQ=sequence
        hyperbaton system -o hiero --rules rules --lm lm --max-span 20
        hyperbaton system -o new --moses-ini model/moses.ini --weight LM0=0.5
        hyperbaton system -o better --from tuned --reordering DPR=dpr
        hyperbaton system -o portable --from tuned --copy
    """
    for flag, given in (("--moses-ini", moses_ini), ("--from", from_system)):
        if given is not None and (phrases or rules or lm or (moses_ini and from_system)):
            raise OptionError(
                f"{flag} names the tables and language models: do not give --phrases, --rules or --lm with it"
            )
    if phrases is not None and rules is not None:
        raise OptionError("a system has --phrases or --rules, not both")
    check_artefact(output, KIND, force=force)
    trained = parse_pairs(reordering, "--reordering")
    text = parse_text(source_text, target_text)
    tables = [path for path in (phrases, rules) if path is not None]
    verify_artefacts(verify, *tables, *(lm or []), *trained.values())
    betas = parse_weights(scaled, "--scaled")
    if moses_ini is not None:
        made = import_moses(moses_ini)
    elif from_system is not None:
        verify_artefacts(verify, from_system)
        made = System.load(from_system)
    elif tables:
        made = assemble(phrases, lm or [], rules=rules)
    else:
        raise OptionError("nothing to assemble: give --phrases, --rules, --moses-ini or --from")
    made = extend(
        made,
        trained,
        scaled={name: b[0] if isinstance(b, list) else b for name, b in betas.items()},
        inside=inside or [],
        per_class=weights_per_class or [],
        phrases=phrases,
    ).with_weights(parse_weights(weight))
    for name in trained:
        if (share := made.unknown_share(name)) > MOST_UNKNOWN:
            what = f"the model knows only {1 - share:.0%} of the words in the system's source phrases"
            say(f"warning: {name}={trained[name]}: {what}; was it trained on the same language and tokenizer?", quiet)
    made = made.with_options(changed(made, flags))
    if text is not None:
        made = made.with_text(text)
        if not text.source.escapes and made.table.source.vocabulary.number("&apos;") >= 0:
            say("warning: the source phrases have Moses' escapes (&apos;): add :escapes=yes to --source-text", quiet)
    made.save(output, copy=copy)
    tell(made, quiet, as_json)


def tell(made: System, quiet: bool, as_json: bool) -> None:
    """Describe the content of a system."""
    pairs = counted(len(made.table), "rule" if made.is_hierarchical else "phrase pair")
    content = {"pairs": len(made.table), "weights": dict(made.weights)}
    print_result(content, f"{pairs}; features: {', '.join(made.features)}", as_json, quiet)
