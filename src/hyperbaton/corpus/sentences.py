"""Sentence splitting of raw paragraphs.

In Japanese and Chinese a sentence ends at 。, ！ or ？ outside of brackets. Elsewhere it ends at a mark that is followed by
a blank and the start of a new sentence: a capital, a digit, an opening quote or bracket, or a letter of a script without
capitals. A full stop after an abbreviation, an initial or (in German) a number does not end a sentence.
"""

from __future__ import annotations

import re

UNSPACED = frozenset({"ja", "zh"})  # languages that are written without blanks between words
# Private characters that replace protected text (`placeholders.py`); the second range is that of closing tags.
_OPAQUE, _CLOSING = "\ue000-\uefff", "\uf000-\uf8ff"
_CLOSERS = "\"'”’“‘»)\\]」』）】》"  # German closes with “
_MARKS = "[.!?؟。！？…]"
# A run of marks is examined once, from its first mark; otherwise time is quadratic in its length.
_END = re.compile(rf"(?<!{_MARKS}){_MARKS}++[{_CLOSERS}]*+(?:\s*+[{_CLOSING}])*(?=\s)")
_START = re.compile(rf"\s++[\"'“‘«(\[¿¡„‚{_OPAQUE}\s]*(.)")
_CJK_MARK = re.compile(rf"[。！？!?｡]++[{_CLOSERS}]*+(?:\s*+[{_CLOSING}])*")
_OPENING, _CLOSED = "「『（【《(“", "」』）】》)”"
_BEFORE_WORD = "\\s(\\[\"'“‘„«"
_LAST_WORD = re.compile(rf"(?<![^{_BEFORE_WORD}])[^{_BEFORE_WORD}]++$")

_ABBREVIATIONS = {
    "en": "mr mrs ms dr prof rev hon sen rep gen col capt lt sgt st jr sr vs etc e.g i.e cf no nos vol fig figs eq eqs sec "
    "ch pp ed eds al inc ltd co corp dept approx est jan feb mar apr jun jul aug sep sept oct nov dec a.m p.m u.s u.k u.n",
    "de": "bzw ca dr prof hr fr frl st str nr nrn bd abs art abb s z.b d.h u.a o.ä usw vgl ggf evtl inkl exkl max min mind "
    "mio mrd tel geb gest jh jhd sog u.s.w i.d.r i.a z.t jan feb apr jun jul aug sep sept okt nov dez",
}


def split_sentences(paragraph: str, language: str = "en") -> list[str]:
    """The sentences of a paragraph, without the blanks around them; none is empty.

    >>> split_sentences('Dr. Li came at 3 p.m. on Monday. "Why?" he asked.  Nobody knew...')
    ['Dr. Li came at 3 p.m. on Monday.', '"Why?" he asked.', 'Nobody knew...']
    >>> split_sentences("彼は「はい。」と言った。次の日、来た！", "ja")
    ['彼は「はい。」と言った。', '次の日、来た！']
    """
    ends = _unspaced_ends(paragraph) if language in UNSPACED else _spaced_ends(paragraph, language)
    starts = [0, *ends]
    pieces = (paragraph[a:b].strip() for a, b in zip(starts, [*ends, len(paragraph)], strict=True))
    return [piece for piece in pieces if piece]


def _unspaced_ends(paragraph: str) -> list[int]:
    ends: list[int] = []
    first = ""  # character of the sentence
    depth, seen = 0, 0
    for mark in _CJK_MARK.finditer(paragraph):
        for char in paragraph[seen : mark.end()]:
            first = first or char.strip()
            # A bracket that was never opened closes nothing.
            depth = depth + 1 if char in _OPENING else max(depth - 1, 0) if char in _CLOSED else depth
        seen = mark.end()
        # 「…。」と言った: a sentence that starts with a quotation goes on after it.
        quoted = paragraph[seen - 1] in _CLOSED and (first in _OPENING or paragraph[seen : seen + 1] == "と")
        if depth == 0 and not quoted:
            ends.append(seen)
            first = ""
    return ends


def _spaced_ends(paragraph: str, language: str) -> list[int]:
    ends = []
    for mark in _END.finditer(paragraph):
        start = _START.match(paragraph, mark.end())
        if start is not None and _starts_sentence(start[1]) and not _ends_nothing(paragraph, mark, language):
            ends.append(mark.end())
    return ends


def _starts_sentence(char: str) -> bool:
    return not char.islower() and (char.isalnum() or "\ue000" <= char <= "\uf8ff")


def _ends_nothing(paragraph: str, mark: re.Match[str], language: str) -> bool:
    """Whether a mark is the full stop of an abbreviation, an initial or a German ordinal."""
    if mark[0] != ".":
        return False
    before = _LAST_WORD.search(paragraph[max(0, mark.start() - 40) : mark.start()])
    if before is None:
        return False
    word = before[0]
    is_initial = len(word) == 1 and word.isupper() and word != "I"
    is_ordinal = language == "de" and word.isdigit() and len(word) <= 2
    return is_initial or is_ordinal or word.lower() in _ABBREVIATIONS.get(language, _ABBREVIATIONS["en"]).split()
