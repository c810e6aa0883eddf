"""Slow, plain readings of trees and CoNLL-U, for comparison with the core."""

from __future__ import annotations

import re
from typing import Any


def parse_tree(line: str) -> Any:
    """A bracketed tree as nested [label, child, …] lists with words as strings."""
    items = re.findall(r"\(|\)|[^ ()]+", line)
    # An opening bracket directly followed by another bracket has an empty label.
    stack: list[list[Any]] = [[]]
    i = 0
    while i < len(items):
        if items[i] == "(":
            label = ""
            # The label touches its bracket.
            if i + 1 < len(items) and items[i + 1] not in "()":
                label = items[i + 1]
                i += 1
            stack.append([label])
        elif items[i] == ")":
            node = stack.pop()
            stack[-1].append(node)
        else:
            stack[-1].append(items[i])
        i += 1
    (root,) = stack[0]
    return root


def tree_nodes(root: Any) -> list[tuple[str, int, int, int]]:
    """(label, begin, end, parent) of a parsed tree in pre-order, by recursion."""
    nodes: list[tuple[str, int, int, int]] = []

    def visit(node: Any, begin: int, parent: int) -> int:
        me = len(nodes)
        nodes.append((node[0], begin, begin, parent))
        at = begin
        for child in node[1:]:
            at = at + 1 if isinstance(child, str) else visit(child, at, me)
        nodes[me] = (node[0], begin, at, parent)
        return at

    visit(root, 0, -1)
    return nodes


def tree_words(root: Any) -> list[str]:
    """The leaves of a parsed tree."""
    return [word for child in root[1:] for word in ([child] if isinstance(child, str) else tree_words(child))]


def parse_conllu(text: str) -> list[list[tuple[str, str, str, int, str]]]:
    """(form, upos, xpos, 0-based head, relation) of each word of each sentence."""
    sentences = []
    for paragraph in re.split(r"\n\n+", text.strip("\n")):
        words = []
        for line in paragraph.split("\n"):
            if not line or line.startswith("#"):
                continue
            columns = line.split("\t")
            if columns[0].isdigit():
                words.append((columns[1], columns[3], columns[4], int(columns[6]) - 1, columns[7]))
        if words:
            sentences.append(words)
    return sentences
