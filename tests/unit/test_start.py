"""Commands start fast: they import nothing that they do not use, and lazy packages give what they list."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import hyperbaton
from hyperbaton import align, corpus, decode, learn, lm, models, phrases, report
from hyperbaton.corpus import Bitext
from hyperbaton.decode import System
from hyperbaton.decode.moses import import_moses
from hyperbaton.learn import minimizers
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, extract

PACKAGE = Path(hyperbaton.__file__).parent
GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
# Libraries that take long to import; http.client and ssl come with a careless import of xml.sax, and importlib.metadata
# with a look at the entry points of everything that is installed. html has the names of all characters, and tempfile and
# secrets import OpenSSL, as does hashlib.
SLOW = {
    *("scipy", "sklearn", "matplotlib", "pandas", "torch", "sacrebleu", "pydantic", "rich", "typer", "concurrent.futures"),
    *("multiprocessing", "asyncio", "xml", "http.client", "ssl", "socket", "email", "importlib.metadata"),
    *("html", "tempfile", "secrets", "hashlib"),
}
# Parts of the package that no translation needs, with any model.
UNUSED = {
    *("align.aligners.hmm", "align.lexical", "align.lexicon", "base.executors", "base.ordered"),
    *("corpus.dependencies", "corpus.processing", "corpus.sentences", "corpus.tokenizers", "decode.derivations"),
    *("decode.preordering", "decode.raw", "evaluate", "metrics"),
    *("phrases.extraction", "phrases.smoothing", "report", "run", "tune"),
}
# Number of modules of the package; each takes about a millisecond.
MODULES = {"table": 78, "dpr": 100, "sequence": 100}
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


def test_drawing_a_pair_as_text_imports_no_matplotlib(tmp_path: Path) -> None:
    files = {"source": "a b", "target": "x y", "links": "0-1 1-0"}
    for name, line in files.items():
        (tmp_path / name).write_text(f"{line}\n", encoding="utf-8")
    assert "matplotlib" not in imported("inspect", *(tmp_path / name for name in files))


LAZY = [path for path in PACKAGE.rglob("__init__.py") if "LazyNames(" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", LAZY, ids=lambda path: path.parent.name)
def test_lazy_packages_list_the_names_that_type_checkers_see(path: Path) -> None:
    package = importlib.import_module(".".join(["hyperbaton", *path.parent.relative_to(PACKAGE).parts]))
    (lazy,) = (node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.If))
    imports = [node for node in lazy.body if isinstance(node, ast.ImportFrom)]
    names = vars(package).get("_names") or package.__getattr__.__self__
    assert names.homes == {alias.asname: node.module for node in imports for alias in node.names}
    assert set(package.__all__) - names.homes.keys() <= {"MINIMIZERS", "__version__"}


@pytest.mark.parametrize(
    "package", [align, corpus, decode, learn, minimizers, lm, models, phrases, report], ids=lambda package: package.__name__
)
def test_lazy_packages_give_the_names_that_they_list(package: ModuleType) -> None:
    for name in package.__all__:
        home = package.__getattr__.__self__.homes.get(name, package.__name__)
        assert getattr(package, name) is getattr(importlib.import_module(home), name)
    with pytest.raises(AttributeError, match=f"module '{package.__name__}' has no attribute 'nothing'"):
        package.nothing  # noqa: B018


def test_a_module_that_cannot_be_imported_is_an_error(tmp_path: Path) -> None:
    """Not a skipped module of doctests, as pytest has it with --doctest-ignore-import-errors."""
    (tmp_path / "test_broken.py").write_text("import nothing_of_that_name\n\n\ndef test_it() -> None:\n    pass\n")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "pytest", "-c", str(root / "pyproject.toml"), "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode != 0 and "No module named 'nothing_of_that_name'" in done.stdout, done.stdout


def test_interpreters_are_started_with_a_safe_path() -> None:
    """`-m` and `-c` put the current folder before all others; what multiprocessing starts is told by the environment."""
    source = Path(hyperbaton.__file__).parent
    starts = [
        line for path in source.rglob("*.py") for line in path.read_text("utf-8").splitlines() if "sys.executable" in line
    ]
    assert [line for line in starts if '"-P"' not in line and "shutil.which" not in line] == []
    assert len(starts) > 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        "run exp.toml -o out -q",
        "align text text --executor processes:2 -o out -q",
        "tokenize sacremoses text -t 2 -o out -q",
    ],
)
def test_nothing_is_imported_from_the_current_folder(command: str, tmp_path: Path) -> None:
    """Files beside an experiment may have the names of modules; `demo` runs its stages as `run` does."""
    program, folder = tmp_path / "program" / "hyperbaton", tmp_path / "work"
    program.parent.mkdir()
    program.write_text("from hyperbaton.__main__ import main\nif __name__ == '__main__':\n    main()\n", encoding="utf-8")
    folder.mkdir()
    for name in {*sys.stdlib_module_names, "numpy", "hyperbaton", "sacremoses"}:
        (folder / f"{name}.py").write_text("open('imported', 'a').write(__name__)\n", encoding="utf-8")
    (folder / "exp.toml").write_text(
        "[corpus.generate]\nsentences = 60\ndev = 10\ntest = 10\n[models.linear]\n[translation]\nsystems = {}\n",
        encoding="utf-8",
    )
    (folder / "text").write_text("a b c\n" * 4001, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, program, *command.split()], capture_output=True, text=True, check=False, cwd=folder
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "out").exists() and not (folder / "imported").exists()
