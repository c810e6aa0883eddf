"""Trees and CoNLL-U read by the core equal a plain reading, round-trip, and follow the sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hyperbaton.base.store import Artefact, save
from hyperbaton.corpus import Dependencies, Tags, Text, Trees, read_conllu
from tests.oracles.annotations import parse_conllu, parse_tree, tree_nodes, tree_words

labels = st.sampled_from(["S", "NP", "VP", "NN", "VV"])
words = st.sampled_from(["a", "b", "cc", "他", "-LRB-", "&apos;s", "|", "x/y"])


def show(tree: Any) -> str:
    return tree if isinstance(tree, str) else f"({' '.join([tree[0], *map(show, tree[1:])])})"


tree_lists = st.recursive(
    st.builds(lambda label, word: [label, word], labels, words),
    lambda children: st.builds(
        lambda label, below: [label, *below],
        labels,
        st.lists(st.one_of(children, words), min_size=1, max_size=4),
    ),
    max_leaves=12,
)


@given(st.lists(st.one_of(st.none(), tree_lists.map(show)), max_size=5), st.data())
def test_trees_equal_a_plain_reading(lines: list[str | None], data: st.DataObject) -> None:
    parsed = [None if line is None else parse_tree(line) for line in lines]
    sentences = [["no", "tree"] if tree is None else tree_words(tree) for tree in parsed]
    plain = [[word.replace("-LRB-", "(").replace("&apos;", "'") for word in words] for words in sentences]
    for text in (Text.of([" ".join(words) for words in sentences]), Text.of([" ".join(words) for words in plain])):
        trees = Trees.of([line or "" for line in lines], text)
        assert [[tuple(node) for node in trees[s]] for s in range(len(trees))] == [
            [] if tree is None else tree_nodes(tree) for tree in parsed
        ]
    sparse = [f"{s + 1}\t{line}" for s, line in enumerate(lines) if line]
    if sparse:
        assert all(np.array_equal(a, b) for a, b in zip(_columns(Trees.of(sparse, text)), _columns(trees), strict=True))

    # Written with the escaped words of the file, trees come back as they were.
    escaped = Text.of([" ".join(words) for words in sentences])
    assert b"".join(trees.pieces(escaped)).decode() == "".join(f"{line or ''}\n" for line in lines)
    chosen = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=4) if lines else st.just([]))
    some = trees.select(chosen)
    assert [some[s] for s in range(len(some))] == [trees[s] for s in chosen]


def _columns(trees: Trees) -> list[np.ndarray[Any, Any]]:
    return list(trees.arrays("t").values())


@st.composite
def conllu_files(draw: st.DrawFn) -> str:
    out = ""
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(1, 6))
        order = draw(st.permutations(range(n)))  # each word hangs below an earlier one of this order
        heads = {order[0]: -1}
        for i in range(1, n):
            heads[order[i]] = order[draw(st.integers(0, i - 1))]
        out += draw(st.sampled_from(["", "# text = x y\n", "\n"]))
        for i in range(n):
            if draw(st.booleans()):
                out += f"{i + 1}-{i + 2}\tam\t" + "\t".join("_" * 8) + "\n"
            form, tag = draw(words), draw(labels)
            out += f"{i + 1}\t{form}\tlemma\t{tag}\t{tag}x\t_\t{heads[i] + 1}\tdep{heads[i]}\t_\t_\n"
            if draw(st.booleans()):
                out += f"{i + 1}.1\tgone\t" + "\t".join("_" * 8) + "\n"
        out += "\n"
    return out


@given(conllu_files())
def test_conllu_equals_a_plain_reading(tmp_path_factory: Any, content: str) -> None:
    path = tmp_path_factory.mktemp("conllu") / "x.conllu"
    path.write_text(content, encoding="utf-8")
    text, dependencies = read_conllu(path)
    sentences = [
        list(
            zip(
                text[s],
                Tags(dependencies.upos, dependencies.offsets, dependencies.upos_vocabulary)[s],
                Tags(dependencies.xpos, dependencies.offsets, dependencies.xpos_vocabulary)[s],
                dependencies.heads[rows].tolist(),
                Tags(dependencies.relations, dependencies.offsets, dependencies.relation_vocabulary)[s],
                strict=True,
            )
        )
        for s, rows in enumerate(slice(a, b) for a, b in zip(text.offsets[:-1], text.offsets[1:], strict=True))
    ]
    assert sentences == parse_conllu(content)

    # Also against a text, which may have empty lines.
    spaced = Text.of([line for sentence in text for line in (" ".join(sentence), "")])
    again = Dependencies.read(path, spaced)
    assert again.heads.tolist() == dependencies.heads.tolist() and len(again) == 2 * len(text)
    last = again.select([2 * len(text) - 2])
    assert last.heads.tolist() == dependencies.heads[text.offsets[-2] :].tolist()


def test_annotations_survive_the_store(tmp_path: Path) -> None:
    text = Text.of(["he eats", "no tree"])
    tags, trees = Tags.of(["PRP VBZ", "DT NN"], text), Trees.of(["(S (NP he) (VP eats))", ""], text)
    path = tmp_path / "x.conllu"
    path.write_text("".join(f"1\t{a}\t_\tX\tY\t_\t2\tdep\t_\t_\n2\t{b}\t_\tX\tY\t_\t0\troot\t_\t_\n\n" for a, b in text))
    dependencies = Dependencies.read(path, text)
    things = {"tags": tags, "trees": trees, "dependencies": dependencies}
    save(tmp_path / "a", "test", {k: v for name, thing in things.items() for k, v in thing.arrays(name).items()})
    artefact = Artefact(tmp_path / "a", "test")
    for name, thing in things.items():
        loaded = type(thing).from_arrays(artefact.group(name))
        for key, array in thing.arrays("x").items():
            assert np.array_equal(array, loaded.arrays("x")[key]), (name, key)
    assert [tags.select([1])[0], len(trees.select([1])[0])] == [["DT", "NN"], 0]
