from __future__ import annotations

from typing import Annotated

from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind
from hyperbaton.cli._common import print_json, say, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Json, Verify, Writes
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Annotations, Links, Tags, Text
from hyperbaton.corpus.files import write_pieces
from hyperbaton.decode import PreorderOptions, link_orders
from hyperbaton.decode import preorder as most_probable
from hyperbaton.decode.preordering import unchanged
from hyperbaton.evaluate import order_quality
from hyperbaton.models import load_model


def _written(values: Arguments) -> dict[AnyPath, Kind]:
    """The destination of the text, and stdout for --json."""
    return dict.fromkeys([values["output"] or "-", *(["-"] if values["json"] else [])], "file")


def preorder(
    inputs: Annotated[list[str], Argument("[MODEL] SRC", "A trained jump model, and source text."), READS],
    *,
    options: PreorderOptions,
    source_tags: Annotated[str | None, Flag("Tags of the source words, parallel to SRC."), READS] = None,
    oracle: Annotated[str | None, Flag("Use the order of these links instead of a MODEL."), READS] = None,
    links: Annotated[str | None, Flag("Compare the order with these links, on stderr."), READS] = None,
    permutations: Annotated[str | None, Flag("Write the old positions of the words to this file."), WRITES_FILE] = None,
    tags: Annotated[str | None, Flag("Write the reordered tags of --source-tags to this file."), WRITES_FILE] = None,
    reordered_links: Annotated[
        str | None, Flag("Write the links of --links or --oracle, for the new order, to this file."), WRITES_FILE
    ] = None,
    output: Annotated[
        str | None,
        Flag("File to write [default: stdout, or none with --json].", "-o"),
        Writes("file", destinations=_written),
    ] = None,
    verify: Verify = False,
    common: ThreadOptions,
    json: Json = False,
) -> None:
    """Put source text into the order of its translation.

    Prints each sentence in its most probable order under a jump model, normalised over the remaining words. With
    --oracle, unlinked words follow the preceding word of the source.

    Examples:

        hyperbaton preorder encoder test.ja > test.reordered
        hyperbaton preorder encoder test.ja --source-tags test.pos -o test.reordered
        hyperbaton preorder a.ja --oracle a.links --reordered-links b.links > b.ja
    """
    if len(inputs) != (1 if oracle else 2):
        raise OptionError("give SRC alone with --oracle" if oracle else "give a MODEL and SRC, or SRC with --oracle LINKS")
    if tags is not None and source_tags is None:
        raise OptionError("--tags needs the tags to reorder: --source-tags FILE")
    if reordered_links is not None and links is None and oracle is None:
        raise OptionError("--reordered-links needs the links to reorder: --links FILE or --oracle FILE")
    source, n = Text.read(inputs[-1]), common.n_threads
    source_labels = None if source_tags is None else Tags.read(source_tags, source)
    reference = to_reorder = None if links is None else Links.read(links, source)
    with common.bars() as bars:
        if oracle is not None:
            to_reorder = Links.read(oracle, source)
            orders = link_orders(source, to_reorder, threads=n)
        else:
            verify_artefacts(verify, inputs[0])
            model = load_model(inputs[0])
            model.threads = n
            annotations = Annotations(source_tags=source_labels).only(model.needs)
            orders, _ = most_probable(model, source, annotations, options, threads=n, progress=bars.stage("preorder"))
    if output is not None or not json:
        write_pieces(output or "-", orders.reorder(source).pieces())
    if permutations is not None:
        write_pieces(permutations, [orders.lines()])
    if tags is not None and source_labels is not None:
        write_pieces(tags, orders.reorder_tags(source_labels).pieces())
    if reordered_links is not None and to_reorder is not None:
        orders.reorder_links(to_reorder).write(reordered_links)
    compared = {"unchanged": unchanged(source), "reordered": orders} if reference is not None else {}
    qualities = {name: order_quality(each, reference, threads=n) for name, each in compared.items() if reference}
    if json:
        print_json({"sentences": len(source), **{name: quality.as_json() for name, quality in qualities.items()}})
    else:
        for name, quality in qualities.items():
            say(f"{name}: " + ", ".join(f"{measure} {value}" for measure, value in quality.row().items()), common.quiet)
