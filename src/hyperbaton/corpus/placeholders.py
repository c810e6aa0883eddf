"""What no tokenizer may touch: tags, addresses, and numbers with separators, each one private character meanwhile.

`mask` puts a character of a private range in the place of each; `Masked.restore` gives tokens their text back. A tokenizer
leaves such a character alone as a token of its own, since it is surrounded by blanks.

>>> masked = mask("See <b>https://a.org/x</b>, 3.5 km")
>>> [masked.texts[c] for c in masked.text if c in masked.texts]
['<b>', 'https://a.org/x', '</b>', '3.5']
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# Tags as people write them; "a < b" and "<3" are none.
TAG = re.compile(r"</?[A-Za-z][\w:.-]*(?:\s+[\w:.-]+(?:\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[^\s\"'<>=]+))?)*\s*/?>")
_URL = r"[!#-&*-;=?-~]+[0-9A-Za-z/=_&#-]"  # ASCII without quotes, brackets and closing punctuation
_ADDRESS = rf"(?i:https?|ftp)://{_URL}|www\.{_URL}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_NUMBER = r"(?<![\w.,])\d+(?:[.,:]\d+)+(?![\w])"
_PROTECTED = re.compile(f"(?P<tag>{TAG.pattern})|(?:{_ADDRESS})|(?:{_NUMBER})|[\ue000-\uf8ff]")
_FIRST, _FIRST_CLOSING, _LAST = 0xE000, 0xF000, 0xF8FF


@dataclass
class Masked:
    """Text in which private characters stand for others, by character; `tags` are those that stand for tags."""

    text: str
    texts: dict[str, str] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)

    def restore(self, token: str) -> str:
        """A token with its own text again."""
        return "".join(self.texts.get(char, char) for char in token)


def mask(text: str, *, tags: bool = True) -> Masked:
    """Put private characters in the place of what is protected; with `tags` false, of all but tags."""
    masked = Masked(text)
    free, free_closing = iter(range(_FIRST, _FIRST_CLOSING)), iter(range(_FIRST_CLOSING, _LAST + 1))

    def put(match: re.Match[str]) -> str:
        whole, is_tag = match[0], match["tag"] is not None
        if is_tag and not tags:
            return whole
        number = next(free_closing if is_tag and whole.startswith("</") else free, None)
        if number is None:  # thousands of them in one paragraph: the rest is ordinary text
            return " " if "\ue000" <= whole <= "\uf8ff" else whole
        masked.texts[chr(number)] = whole
        if is_tag:
            masked.tags.add(chr(number))
        return f" {chr(number)} "

    masked.text = _PROTECTED.sub(put, text)
    return masked
