"""Files hold arrays and text, never pickles: what is read is what was written, to the last bit."""

from __future__ import annotations

import ast
import pickle
from pathlib import Path

import numpy as np

from hyperbaton.align.aligners.hmm import Aligner
from hyperbaton.corpus import Bitext
from hyperbaton.decode.annotated import AnnotatedLines, annotate
from hyperbaton.decode.markup import Constraints

PACKAGE = Path(__file__).parents[2] / "src" / "hyperbaton"
UNPICKLERS = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}


def test_no_module_pickles() -> None:
    """Processes and clusters pickle tasks by themselves (base/workers.py); no file is ever unpickled."""
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


def test_sentences_with_tags_and_trees_are_sent_to_workers() -> None:
    lines, tags = ["he eats", "", "yes ü"], ["PRP VBZ", "", "UH X"]
    known = annotate(lines, tags=tags, trees=["(S (NP he) (VP eats))", "", ""])
    constraints = [Constraints(((0, 1, "a b"),), ((0, 2),), (0,)), Constraints(), Constraints()]
    again = pickle.loads(pickle.dumps(AnnotatedLines(lines, known, constraints)))
    assert again.lines == lines and list(again.constraints) == constraints
    assert again.annotations.source_tags[2] == ["UH", "X"]
    assert [node.label for node in again.annotations.source_trees[0]] == ["S", "NP", "VP"]
