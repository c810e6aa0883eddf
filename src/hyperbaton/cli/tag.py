from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from hyperbaton.base.outputs import is_stream
from hyperbaton.base.progress import is_terminal
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, names_plugin
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus.files import read_sentences, write_pieces
from hyperbaton.corpus.raw import tag as tag_lines
from hyperbaton.corpus.taggers import TAGGERS


def tag(
    text: Annotated[Path, Argument("TEXT", "Tokenized text, one sentence per line; - is stdin."), READS],
    tagger: Annotated[str, Flag("Tagger and its options.", metavar="NAME[:OPTION=VALUE]"), names_plugin(TAGGERS)],
    output: Annotated[Path, Flag("File for the tags; - is stdout.", "-o"), WRITES_FILE] = Path("-"),
    *,
    common: ThreadOptions,
) -> None:
    """Write a part-of-speech tag for each token of a text.

    Tokens are kept as they are: every line has as many tags as the text has tokens. Use the same tagger for the training
    text and for every text to translate. Each tagger needs its extra, such as spacy; spacy, stanza and udpipe
    also need a model of the language, and name it if it is missing. fugashi is for Japanese, jieba for Chinese.

    Examples:

        hyperbaton tag train.de --tagger spacy:model=de_core_news_sm -o train.de.pos
        hyperbaton tag train.fi --tagger stanza:language=fi -o train.fi.pos
        hyperbaton tag train.ja --tagger fugashi -o train.ja.pos
        hyperbaton tag a.fr --tagger udpipe:model=french.udpipe:tags=fine -o a.fr.pos
    """
    chosen = TAGGERS.make(tagger)
    at_terminal = is_stream(output) and is_terminal(sys.stdout)  # bars would mix with the tags
    with common.bars(at_terminal) as bars:
        progress, done = bars.stage("tag"), 0

        def pieces() -> Iterator[bytes]:
            nonlocal done
            for piece in tag_lines(read_sentences(text), chosen, common.n_threads):
                done += piece.count(b"\n")
                progress(done, done)
                yield piece

        write_pieces(output, pieces())
