"""Synonyms from a WordNet that is installed: words that share a synset.

WordNet's `index.noun` (and verb, adj, adv) has a line for each word: word, part of speech, number of synsets, … and at the
end the numbers of its synsets. `noun.exc` has irregular forms with their base forms.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from hyperbaton.base.errors import InputError, OptionError

_PARTS = ("noun", "verb", "adj", "adv")


def wordnet_folder(folder: str | None) -> Path:
    """The folder of WordNet's files: the one given, that of $WNSEARCHDIR, or where Debian puts it."""
    places = [folder] if folder else [os.environ.get("WNSEARCHDIR"), "/usr/share/wordnet"]
    for place in places:
        if place and (Path(place) / "index.noun").is_file():
            return Path(place)
    where = folder or "$WNSEARCHDIR or /usr/share/wordnet"
    raise OptionError(f"no WordNet in {where}; install one, or name its folder with the option wordnet")


@cache
def synsets(folder: Path) -> dict[str, frozenset[str]]:
    """The synsets of every word of a WordNet."""
    synsets: dict[str, set[str]] = {}
    base: list[tuple[str, str]] = []
    for part in _PARTS:
        for n, line in enumerate(_lines(folder / f"index.{part}"), start=1):
            fields = line.split()
            if line.startswith(" ") or "_" in line.partition(" ")[0]:
                continue  # the licence, and expressions of several words
            try:
                word, n_synsets = fields[0], int(fields[2])
            except (IndexError, ValueError):
                raise InputError("not a line of a WordNet index", folder / f"index.{part}", n) from None
            synsets.setdefault(word, set()).update(f"{part}{number}" for number in fields[-n_synsets:])
        if (folder / f"{part}.exc").is_file():
            base += [
                (fields[0], b) for line in _lines(folder / f"{part}.exc") if (fields := line.split()) for b in fields[1:]
            ]
    for form, word in base:
        synsets.setdefault(form, set()).update(synsets.get(word, ()))
    return {word: frozenset(numbers) for word, numbers in synsets.items()}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
