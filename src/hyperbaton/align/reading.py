"""Links made by other programs: Pharaoh text and GIZA++ A3 files, with or without the texts."""

from __future__ import annotations

from hyperbaton import _core
from hyperbaton.base.errors import OptionError
from hyperbaton.corpus import Bitext, Links
from hyperbaton.corpus.files import AnyPath, feed

FORMATS = ("pharaoh", "giza", "giza-inverse")


def read_links(path: AnyPath, bitext: Bitext | None = None, format: str = "pharaoh") -> Links:
    """Read the links of a bitext, and check them against it where it is given.

    Arguments:
        format: `pharaoh` is `0-0 1-2`, one line per sentence pair, source position first. `giza` is an A3 file in
            which source words generate target words (the target sentence on the second line, source words with the
            1-based positions they generate on the third); `giza-inverse` is an A3 file of the other direction.

    What NULL generates has no link. Points come sorted, none twice.
    """
    source = None if bitext is None else bitext.source.offsets
    target = None if bitext is None else bitext.target.offsets
    if format == "pharaoh":
        reader: _core.PharaohReader | _core.GizaReader = _core.PharaohReader(source, target)
    elif format in FORMATS:
        reader = _core.GizaReader(source, target, format == "giza")
    else:
        raise OptionError(f"unknown link format {format!r}; known: {', '.join(FORMATS)}")
    feed(reader, path)
    return Links(*reader.take())
