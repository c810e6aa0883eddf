"""Files of shards hold arrays and text, never pickles: what is read is what was written, to the last bit."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.decode.annotated import AnnotatedLines, annotate
from hyperbaton.decode.markup import Constraints
from hyperbaton.decode.shards import read_shard, write_shards
from hyperbaton.tune.nbest import Candidates

PACKAGE = Path(__file__).parents[2] / "src" / "hyperbaton"
UNPICKLERS = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def test_no_module_pickles() -> None:
    """Processes and clusters pickle tasks by themselves (base/executors.py); no file is ever unpickled."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not {name.partition(".")[0] for name in names} & UNPICKLERS, path.relative_to(PACKAGE)
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant) and node.value.value is False, path.relative_to(PACKAGE)


def test_an_aligner_saved_whole_is_the_same_to_the_last_bit(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(40)]
    rng = np.random.default_rng(1)
    sides = [[" ".join(rng.choice(words, 12)) for _ in range(30)] for _ in range(2)]
    aligner = Aligner(hmm_iterations=2).fit(Bitext.of(*sides))
    aligner.save(tmp_path / "whole", smallest=0)
    again = Aligner.load(tmp_path / "whole")
    for name, array in aligner._model_arrays(0.0).items():
        assert array.tobytes() == again._model_arrays(0.0)[name].tobytes(), name
    aligner.save(tmp_path / "saved", smallest=0.01)
    assert len(Aligner.load(tmp_path / "saved").model_.lexicon(0.0)[1]) < len(aligner.model_.lexicon(0.0)[1])


@pytest.mark.parametrize("sparse", [None, csr_array(np.array([[0, 0.5, 0], [0, 0, 0], [-2, 0, 1e-300]]))])
def test_lists_of_translations(tmp_path: Path, sparse: csr_array | None) -> None:
    features = np.random.default_rng(1).normal(size=(3, 2))
    lists = Candidates(np.array([0, 0, 2]), features, ["a ü", "", "語 b"], sparse)
    np.savez(tmp_path / "lists.npz", **lists.arrays())
    with np.load(tmp_path / "lists.npz", allow_pickle=False) as arrays:
        again = Candidates.from_arrays(arrays)
    assert again.hypotheses == lists.hypotheses and again.sentence.tolist() == [0, 0, 2]
    assert again.features.tobytes() == features.tobytes()
    if sparse is None:
        assert again.sparse is None
    else:
        assert again.sparse.shape == sparse.shape and (again.sparse != sparse).nnz == 0


def test_sentences_with_tags_and_trees(tmp_path: Path) -> None:
    lines, tags = ["he eats", "", "yes ü"], ["PRP VBZ", "", "UH X"]
    trees = ["(S (NP he) (VP eats))", "", ""]
    known = annotate(lines, tags=tags, trees=trees)
    groups = [
        AnnotatedLines(lines[:2], known.select(np.arange(2))),
        AnnotatedLines(lines[2:], known.only(["source_tags"]).select(np.array([2]))),
        AnnotatedLines(["\u2028 \x85"], Annotations(), [Constraints(((0, 1, "a b"),), ((0, 2),), (0,))]),
    ]
    write_shards(tmp_path, groups, [0, 3, 4, 4])
    first, second = read_shard(tmp_path, 0)
    (third,) = read_shard(tmp_path, 1)
    assert [*first.lines, *second.lines, *third.lines] == [*lines, "\u2028 \x85"]
    assert first.annotations.source_tags and first.annotations.source_trees and second.annotations.source_tags
    assert [first.annotations.source_tags[0], second.annotations.source_tags[0]] == [["PRP", "VBZ"], ["UH", "X"]]
    assert [node.label for node in first.annotations.source_trees[0]] == ["S", "NP", "VP"]
    assert second.annotations.source_trees is None and third.annotations.names == ()
    assert not first.constraints and list(third.constraints) == list(groups[2].constraints)
    assert list(read_shard(tmp_path, 2)) == []
