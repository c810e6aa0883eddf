"""Commands start fast: they import nothing that they do not use, and lazy packages give what they list."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hyperbaton import align, cli, corpus, decode, learn, lm, models, phrases, report
from hyperbaton.corpus import Bitext
from hyperbaton.decode import System
from hyperbaton.decode.moses import import_moses
from hyperbaton.learn import minimizers
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
# Libraries that take long to import; http.client and ssl come with a careless import of xml.sax, and importlib.metadata
# with a look at the entry points of everything that is installed. html has the names of all characters, and tempfile and
# secrets import OpenSSL.
SLOW = {
    *("scipy", "sklearn", "matplotlib", "pandas", "torch", "sacrebleu", "pydantic", "rich", "concurrent.futures"),
    *("multiprocessing", "asyncio", "xml", "http.client", "ssl", "socket", "email", "importlib.metadata"),
    *("html", "tempfile", "secrets"),
}
# Parts of the package that no translation needs, with any model.
UNUSED = {
    *("align.aligners.hmm", "align.lexical", "align.lexicon", "base.executors", "base.processes", "corpus.class_runs"),
    *("corpus.dependencies", "corpus.processing", "corpus.sentences", "corpus.tokenizers", "decode.derivations"),
    *("decode.glossary", "decode.preordering", "decode.raw", "decode.shards", "evaluate", "lm.shards", "metrics"),
    *("phrases.extracted", "phrases.pair_orientations", "phrases.smoothing", "report", "run", "tune"),
}
# Number of modules of the package; each takes about a millisecond.
MODULES = {"table": 75, "dpr": 100, "sequence": 100}
MAIN = """
import sys
from hyperbaton.__main__ import main
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def imported(*arguments: object, text: str = "") -> set[str]:
    """The modules that a command imports."""
    command = [sys.executable, "-c", MAIN, *map(str, arguments)]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.fixture(scope="module")
def bitext() -> Bitext:
    lines = [(GOLDEN / f"train.{side}").read_text(encoding="utf-8").splitlines()[:40] for side in ("src", "tgt", "links")]
    return Bitext.of(
        lines[0], lines[1], [[(int(a), int(b)) for a, b in re.findall(r"(\d+)-(\d+)", line)] for line in lines[2]]
    )


@pytest.mark.parametrize("model", ["table", "dpr", "sequence"])
def test_translating_imports_nothing_that_is_slow_or_unused(model: str, bitext: Bitext, tmp_path: Path) -> None:
    if model == "table":
        system = import_moses(GOLDEN / "decode" / "hier-mslr.moses.ini")
    else:
        options = {"dpr": {"min_cluster": 5}, "sequence": {"learner": "lbfgs:max-passes=2"}}[model]
        table = PhraseTable.build(bitext, extract(bitext, 3))
        system = System.of(table, [LanguageModel.estimate(bitext.target, 2)], {"R": MODELS[model](**options).fit(bitext)})
    system.save(tmp_path / "system")
    loaded = imported("translate", tmp_path / "system", "-q", text="a b\n")
    assert "hyperbaton.decode.translator" in loaded
    assert loaded & {*SLOW, *(f"hyperbaton.{name}" for name in UNUSED)} == set()
    assert len({name for name in loaded if name.startswith("hyperbaton.")}) < MODULES[model]
    models = {name for name in MODELS if f"hyperbaton.models.{name}" in loaded}
    assert models == {model} - {"table"}
    assert model != "table" or not {name for name in loaded if name.startswith(("hyperbaton.learn", "hyperbaton.features"))}


def test_help_imports_no_command_and_no_numpy() -> None:
    loaded = imported("--help")
    assert not loaded & {*SLOW, "numpy", "hashlib"}
    assert not {name for name in loaded if name.startswith("hyperbaton.cli.") and not name.startswith("hyperbaton.cli._")}


def test_explaining_a_model_imports_few_others(bitext: Bitext, tmp_path: Path) -> None:
    """Only those that have explanations for themselves."""
    MODELS["lexicalized"](orientations="three").fit(bitext).save(tmp_path / "model")
    loaded = imported("explain", tmp_path / "model", "--top", 2)
    assert {name for name in MODELS if f"hyperbaton.models.{name}" in loaded} == {"block_me", "lexicalized", "osm"}


def test_help_is_read_from_files_as_python_reads_it() -> None:
    """Help lists the commands without parsing their files."""
    for verb in cli.verbs():
        function = cli._function(verb)
        assert cli._help_text(verb) == inspect.getdoc(function) and cli._group(verb) == function.__globals__["HELP_GROUP"]


def test_drawing_a_pair_as_text_imports_no_matplotlib(tmp_path: Path) -> None:
    files = {"source": "a b", "target": "x y", "links": "0-1 1-0"}
    for name, line in files.items():
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    assert "matplotlib" not in imported("inspect", *(tmp_path / name for name in files))


@pytest.mark.parametrize(
    "package", [align, corpus, decode, learn, minimizers, lm, models, phrases, report], ids=lambda package: package.__name__
)
def test_lazy_packages_give_the_names_that_they_list(package: object) -> None:
    name, listed = package.__name__, package.__all__  # type: ignore[attr-defined]
    file = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))  # type: ignore[attr-defined]
    (lazy,) = (node for node in file.body if isinstance(node, ast.If))
    checked = {alias.asname: node.module for node in lazy.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert checked.keys() <= set(listed) and (set(listed) - checked.keys()) <= vars(package).keys()
    assert all(hasattr(package, each) for each in listed)
    for each, module in checked.items():
        assert getattr(package, each) is getattr(importlib.import_module(module or ""), each)
    with pytest.raises(AttributeError, match=f"module '{name}' has no attribute 'nothing'"):
        package.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_a_module_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    """Not a skipped module of doctests, as pytest has it with --doctest-ignore-import-errors."""
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name\n\n\ndef test_it() -> None:\n    pass\n")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-c", str(root / "pyproject.toml"), "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode != 0 and "No module named 'nothing_of_that_name'" in done.stdout, done.stdout
