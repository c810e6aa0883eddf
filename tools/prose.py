"""Check English prose for this project's list of tics: `python tools/prose.py PATH...`.

The prose of a Markdown page is everything but its code; that of a source file is its comments, docstrings and messages.
Raw strings are patterns and triple-quoted values are data. Each finding is one line, `file:line: found; suggestion`, and
the exit status is 1 if there are any. A path is a file or a folder.
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

MAX_WORDS = 60

# A pattern, in which a space matches any white space, and what to write instead. `^` is the start of a passage.
TICS = [
    (r"\bbehind\b(?! an? (reverse )?proxy| the (proxy|scenes))", "'after', unless one thing hides another"),
    (r"\bso many\b", "'N', 'this many' or 'a number of'"),
    (r"\b[Ww](ho|hat)ever\b(?! (the|its|their)\b)", "name the agent or the thing: 'the caller', 'any file'"),
    (r"\b([Ss]ome|[Nn]o)body\b", "name the agent: 'the caller', 'the user', or use the passive"),
    (r"\bof (its|their|his|one's|my|our|your) own\b", "'its own X', 'a separate X' or 'a custom X'"),
    (r"\bone's own\b", "'custom' or 'your own'"),
    (r"\bto and fro\b", "'back and forth'"),
    (r"\bmanners\b", "'conventions' or 'behaviour'"),
    (r"\bas (it stands|they stand)\b", "'as printed' or 'unchanged'"),
    (r"\banew\b", "'again'"),
    (r"\b(is|are|was|were) told\b(?! (apart|to|when)\b)", "'is reported' or 'is given'"),
    (r"\b(more|less|greater) than chance\b", "'significant'"),
    (r", that(?! (is,|is to say|too\b|of\b)| $) ", "no comma before 'that'"),
    (r"^The same\b", "say the thing; a comment or a paragraph must make sense alone"),
    (r"^What (is|was|are|were|it|they|has|stands|stood)\b[^?]*$", "start with the subject, not with a 'what' clause"),
]
RULES = [(re.compile(pattern.replace(" ", r"\s+")), advice) for pattern, advice in TICS]

# Code in Markdown; code within a line, links and formulas; starts of list items, table cells and branches of trees.
FENCED = re.compile(r"^ *(```|~~~).*?^ *\1 *$|\A---\n.*?^---$|<!--.*?-->", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"``.+?``|`[^`]*`|\$[^$\n]+\$|\]\([^)]*\)|<[^<>\n]+>|https?://\S+")
ITEM = re.compile(r"^[ >]*(?:[-*+]|\d+\.)(?= )|[|│├└]", re.MULTILINE)
# Examples in docstrings: of Python, and of commands.
DOCTEST = re.compile(r"^ *>>> .*?(?=^ *$|\Z)|^ {4,}hyperbaton [^\n]*$", re.MULTILINE | re.DOTALL)
OPENING = re.compile(r"#+|\w*(?:\"\"\"|'''|[\"'])|")
# Of C++: a comment; a raw string or a character; a string.
CPP = re.compile(r"""(//+[/<!]*)([^\n]*)|(\bR"\(.*?\)"|'(?:\\.|[^'\\])')|(")((?:\\.|[^"\\\n])*)("?)""", re.DOTALL)
PASSAGE = re.compile(r"(?:[^\n\0]|\n(?! *(?:\n|\Z)))+")
SENTENCE = re.compile(r"(?:[^.!?:]|[.!?:](?!\s))+")


def masked(text: str, mask: str = " ") -> str:
    """Replace every character but the ends of lines."""
    return re.sub(r"[^\n]", mask, text)


def prose_of(text: str, suffix: str) -> str:
    """Return a file's prose, as long as the file: all else is blank, and NUL characters separate passages."""
    if suffix == ".md":
        text = FENCED.sub(lambda match: masked(match[0]), text)
        text = re.sub(r"^#(#* .*)\n", "\0\\1\0", text, flags=re.MULTILINE)
    elif suffix == ".py":
        text = DOCTEST.sub(lambda match: masked(match[0]), _python(text))
    else:
        text = _cpp(text)
    text = ITEM.sub(lambda match: masked(match[0], "\0"), text)
    return INLINE.sub(lambda match: masked(match[0], "x"), text)


def _python(text: str) -> str:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    parts, end = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if tokenize.tok_name[token.type] in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            first, last = (starts[line - 1] + column for line, column in (token.start, token.end))
            code, words = text[end:first], text[first:last]
            fills_line = not token.line[: token.start[1]].strip()
            mark = OPENING.match(words)[0]  # type: ignore[index]
            is_data = "r" in mark.lower() or (len(mark) > 2 and not fills_line)
            words = masked(words) if is_data else re.sub(r"\{[^{}]*\}", lambda match: masked(match[0], "x"), words)
            # A comment that fills its line continues the one above it.
            parts += [masked(code), masked(mark, " " if mark[:1] == "#" and fills_line else "\0"), words[len(mark) :]]
            end = last
    return "".join(parts)


def _cpp(text: str) -> str:
    parts, end = [], 0
    for match in CPP.finditer(text):
        code = text[end : match.start()]
        comment, words, other, quote, message, close = (group or "" for group in match.groups())
        parts += [masked(code), masked(comment + quote, "\0" if code.strip() else " "), words, masked(other)]
        parts += [message, masked(close)]
        end = match.end()
    return "".join(parts)


def check(path: Path) -> Iterator[str]:
    """Yield the findings in one file."""
    source = path.read_text(encoding="utf-8")
    for passage in PASSAGE.finditer(prose_of(source, path.suffix)):
        text = passage[0].lstrip(" \n#")
        start = passage.end() - len(text)
        found = [(match.start(), f"'{match[0][:40]}'", advice) for rule, advice in RULES for match in rule.finditer(text)]
        lengths = ((match.start(), len(re.findall(r"\w[\w'’-]*", match[0]))) for match in SENTENCE.finditer(text))
        found += [(place, f"a sentence of {words} words", "split it") for place, words in lengths if words > MAX_WORDS]
        for place, what, advice in sorted(found):
            yield f"{path}:{source.count(chr(10), 0, start + place) + 1}: {' '.join(what.split())}; {advice}"


def main(paths: list[str]) -> int:
    """Print the findings in files and folders."""
    files: list[Path] = []
    for path in map(Path, paths):
        inside = (file for file in path.rglob("*.*") if file.suffix in (".md", ".py", ".cc", ".hh"))
        files += sorted(inside) if path.is_dir() else [path]
    findings = [finding for file in files for finding in check(file)]
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
