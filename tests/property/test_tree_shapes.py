"""Dependency trees read as constituents, and changes of trees by rule, against plain recursion."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.errors import InputError
from hyperbaton.corpus import Dependencies, Text, Trees
from hyperbaton.corpus.tree_rules import apply_rules, parse_rules, read_rules
from tests.oracles.annotations import parse_tree, tree_nodes


@st.composite
def heads(draw: st.DrawFn) -> list[int]:
    """Any tree over 1 … 7 words: a head for each, −1 for roots, no circles."""
    n = draw(st.integers(1, 7))
    order = draw(st.permutations(range(n)))
    return [-1 if (at := order.index(i)) == 0 else draw(st.sampled_from([-1, *order[:at]])) for i in range(n)]


def below(head_of_word: list[int], head: int) -> set[int]:
    """A word with all that depends on it."""
    inside = {head}
    while more := {i for i, h in enumerate(head_of_word) if h in inside} - inside:
        inside |= more
    return inside


@given(heads())
def test_head_spans(head_of_word: list[int]) -> None:
    n = len(head_of_word)
    rows = "\n".join(f"{i + 1}\tw{i}\t_\tT{i}\t_\t_\t{h + 1}\tr{i}\t_\t_" for i, h in enumerate(head_of_word))
    text = Text.of([" ".join(f"w{i}" for i in range(n))])
    trees = _dependencies(rows, text).constituents()
    nodes = trees[0]
    assert nodes[0][:3] == ("ROOT", 0, n) and nodes[0].parent == -1
    spans = {node.label: (node.begin, node.end) for node in nodes}
    assert all(spans[f"T{i}"] == (i, i + 1) for i in range(n))
    for k, node in enumerate(nodes[1:], 1):  # a tree in pre-order, whose children tile their parent
        parent = nodes[node.parent]
        assert node.parent < k and parent.begin <= node.begin < node.end <= parent.end
        children = [child for child in nodes if child.parent == k]
        if children:
            assert [child.begin for child in children] == [node.begin, *(child.end for child in children[:-1])]
            assert children[-1].end == node.end
    projective = all(
        below(head_of_word, i) == set(range(min(below(head_of_word, i)), max(below(head_of_word, i)) + 1)) for i in range(n)
    )
    for i in range(n):
        inside = below(head_of_word, i)
        if projective:
            assert spans[f"r{i}"] == (min(inside), max(inside) + 1)
        assert spans[f"r{i}"][0] <= i < spans[f"r{i}"][1]


def _dependencies(rows: str, text: Text) -> Dependencies:
    from hyperbaton import _core

    reader = _core.ConlluReader(text.core_tokens, text.vocabulary.spelling)
    reader.feed(f"{rows}\n\n".encode())
    reader.finish()
    return Dependencies._take(reader)


def raised(node: Any, child: str, parent: str) -> list[Any]:
    """A parsed tree with the rule applied below it, and what leaves it to the right."""
    if isinstance(node, str):
        return [node]
    children = [new for old in node[1:] for new in raised(old, child, parent)]
    last = children[-1]
    if node[0] == parent and len(children) > 1 and isinstance(last, list) and last[0] == child:
        return [[node[0], *children[:-1]], last]
    return [[node[0], *children]]


def spliced(node: Any, child: str, parent: str) -> Any:
    if isinstance(node, str):
        return node
    new: list[Any] = [node[0]]
    for one in node[1:]:
        done = spliced(one, child, parent)
        if isinstance(one, list) and one[0] == child and node[0] == parent:
            new += done[1:]
        else:
            new.append(done)
    return new


@st.composite
def bracketed(draw: st.DrawFn, depth: int = 0) -> Any:
    label = draw(st.sampled_from("ABC"))
    if depth == 3 or draw(st.booleans()):
        return [label, "w"]
    return [label, *(draw(bracketed(depth + 1)) for _ in range(draw(st.integers(1, 3))))]


def written(node: Any) -> str:
    return node if isinstance(node, str) else f"({' '.join(map(written, node))})"


@given(bracketed(), st.sampled_from(["raise", "splice"]), st.sampled_from("ABC"), st.sampled_from("ABC"))
def test_rules(tree: Any, action: str, child: str, parent: str) -> None:
    if action == "raise" and child == parent:
        with pytest.raises(InputError, match="the child and the parent must have different labels"):
            parse_rules([f"{action} {child} {parent}"])
        return
    tree = ["TOP", tree]  # nothing leaves the root
    line = written(tree)
    text = Text.of([" ".join(["w"] * line.count("w"))])
    changed = apply_rules(Trees.of([line], text), parse_rules([f"{action} {child} {parent}"]))
    if action == "splice":
        if any(isinstance(n, list) and n[0] == child == parent for n in _all(tree)) or _bare(tree, child, parent):
            return  # a spliced word has no separate bracket in the oracle
        expected = spliced(tree, child, parent)
    else:
        (expected,) = raised(tree, child, parent)
        while raised(expected, child, parent) != [expected]:
            (expected,) = raised(expected, child, parent)
    assert [tuple(node) for node in changed[0]] == tree_nodes(parse_tree(written(expected)))


def _all(tree: Any) -> list[Any]:
    return [] if isinstance(tree, str) else [tree, *(node for child in tree[1:] for node in _all(child))]


def _bare(tree: Any, child: str, parent: str) -> bool:
    """Whether a node to be spliced is a word's own bracket."""
    return any(
        node[0] == parent and any(isinstance(c, list) and c[0] == child and isinstance(c[1], str) for c in node[1:])
        for node in _all(tree)
    )


def test_rule_files_are_checked(tmp_path: Any) -> None:
    path = tmp_path / "rules"
    path.write_text("# comment\nraise DEC CP\n\nlower A B\n")
    with pytest.raises(InputError, match=r"rules:4: expected raise or splice, a child and a parent label"):
        read_rules(path)
    path.write_text("splice VP VP  # adjuncts\n")
    assert [str(rule) for rule in read_rules(path)] == ["splice VP VP"]
    assert read_rules("none") == ()


def test_splice_keeps_the_children_of_removed_nodes() -> None:
    text = Text.of(["a b c"])
    trees = Trees.of(["(VP (X a) (VP (X b) (VP (X c))))"], text)
    changed = apply_rules(trees, parse_rules(["splice VP VP"]))
    assert b"".join(changed.pieces(text)).decode().strip() == "(VP (X a) (X b) (X c))"
