"""No command destroys an input or one output with another: tried for every command and every pair of its paths."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path

import pytest

from hyperbaton.base.errors import ArtefactError, OptionError
from hyperbaton.base.options import plain_type
from hyperbaton.base.store import save
from hyperbaton.cli import Program, verbs
from hyperbaton.cli._command import Command, ValueType
from hyperbaton.cli._parameters import Reads, Role, Writes

# Parameters whose values are text and no paths: of all commands, and of one. A new one goes here, or has a role.
TEXTS = {
    "*": {"compress", "executor", "format", "languages", "memory", "metrics", "settings", "sort", "weight"},
    "align": {"symmetrization", "for_"},
    "corpus": {
        *("action", "layout", "names", "dev", "devtest", "test"),
        *("tokenizer_source", "tokenizer_target"),
    },
    "explain": {"phrase", "sentence", "span", "target", "translated", "source_tags", "links", "family", "tag"},
    "explore": {"system"},
    "export": {"form"},
    "extract": {"reordering", "smoothing"},
    "generate": {"style"},
    "import": {"form"},
    "list": {"kind"},
    "lm": {"prune"},
    "order": {"limits"},
    "project": {"kind", "split", "unlinked"},
    "prune": {"significance"},
    "score": {"test"},
    "serve": {"allowed_host", "cors", "host"},
    "symmetrize": {"method"},
    "system": {"scaled", "inside", "weights_per_class"},
    "tokenize": {"name", "language"},
    "train": {"model"},
    "tune": {"fix", "length", "metric", "optimizer"},
}
DECODING = {"search", "future_jumps", "mbr_gain"}
# Values that are more than a path.
FORMS = {
    "align aligner": "hmm:prior={}",
    "corpus aligner": "hmm:prior={}",
    "corpus tagger": "udpipe:model={}",
    "serve systems": "a-b={}",
    "system reordering": "N={}",
    "system source_text": "en:learn={}",
    "system target_text": "en:learn={}",
    "tag tagger": "udpipe:model={}",
}
PREFIXES = {"clean", "filter"}  # whose output is a prefix of names, which end as their inputs do


@cache
def command(verb: str) -> Command:
    return Program().load(verb)


def roles(verb: str) -> dict[str, Role]:
    return command(verb).roles


def words(verb: str, values: dict[str, str]) -> list[str]:
    """A command line with these values; files that must be named otherwise do not exist."""
    line: list[str] = []
    for parameter in command(verb).params:
        name = str(parameter.name)
        if name not in values and not parameter.required:
            continue
        choices = parameter.type.opt.choices if isinstance(parameter.type, ValueType) else None
        value = values.get(name, choices[0] if choices else f"absent-{name}")
        repeated = [value] * (parameter.nargs if parameter.nargs > 0 else 1)
        line += repeated if parameter.param_type_name == "argument" else [parameter.opts[0], *repeated]
    return line


def content(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def refuse(verb: str, values: dict[str, str], *messages: str) -> None:
    """Run a command that must be refused before it begins, and change nothing."""
    before = content(Path())
    with pytest.raises(OptionError) as caught:
        command(verb).main(words(verb, values), standalone_mode=False)
    said = str(caught.value)
    assert any(message in said for message in messages) and "\n" not in said, said
    assert content(Path()) == before


def outputs(verb: str) -> dict[str, Writes]:
    return {name: role for name, role in roles(verb).items() if isinstance(role, Writes)}


@pytest.mark.parametrize("verb", verbs())
def test_every_path_has_a_role(verb: str) -> None:
    texts = TEXTS["*"] | TEXTS.get(verb, set()) | DECODING
    for parameter in command(verb).params:
        kind = plain_type(parameter.type.opt.type) if isinstance(parameter.type, ValueType) else bool
        if kind in (str, Path) and parameter.name not in roles(verb):
            assert kind is str and parameter.name in texts, (
                f"{verb}: is {parameter.name} read or written? see cli/_parameters.py"
            )


@pytest.mark.parametrize("verb", verbs())
def test_no_input_is_replaced(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    texts = TEXTS["*"] | TEXTS.get(verb, set())  # names of plug-ins without options that are paths
    inputs = [name for name, role in roles(verb).items() if isinstance(role, Reads) and name not in texts]
    ending = {"target": ".target", "also": ".links"} if verb in PREFIXES else {}
    usual = ".source" if verb in PREFIXES else ""
    save("artefact", "bitext", {})
    Path("alias").symlink_to("artefact")
    for end in {usual, *ending.values()}:
        Path(f"in{end}").write_text("a b\n", encoding="utf-8")
        Path(f"link{end}").symlink_to(f"in{end}")
        Path(f"hard{end}").hardlink_to(f"in{end}")
    for (output, role), name in itertools.product(outputs(verb).items(), inputs):
        form = FORMS.get(f"{verb} {name}", "{}")
        for same in ("in", "link", "./in", "hard"):
            refuse(verb, {name: form.format(f"in{ending.get(name, usual)}"), output: same}, "which is also an input")
        for folder in ("artefact", "alias"):
            given = {name: form.format("artefact")}
            for inside in ("manifest.json", "new", "new/new"):
                refuse(verb, given | {output: f"{folder}/{inside}"}, "which is an input artefact")
            if verb not in PREFIXES and role.updates != name:
                refuse(verb, given | {output: folder}, "which is also an input")
        if role.kind == "artefact":
            inner = Path("artefact/text")
            inner.write_text("a b\n", encoding="utf-8")
            refuse(verb, {name: form.format(inner), output: "artefact"}, "which contains the input artefact/text")
            inner.unlink()


@pytest.mark.parametrize("verb", verbs())
def test_no_output_is_replaced_by_another(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written = outputs(verb)
    for one, other in itertools.combinations(written, 2):
        refuse(verb, {one: "new", other: "new"}, "would both write to new")
        for outer, inner in ((one, other), (other, one)):
            if written[outer].kind == "artefact":
                refuse(verb, {outer: "new", inner: "new/inner"}, f"which --{outer.replace('_', '-')} replaces")


@pytest.mark.parametrize("verb", verbs())
def test_a_loop_of_links_is_kept(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    loop = Path("loop.source" if verb in PREFIXES else "loop")
    for link in (loop, Path("round")):
        link.symlink_to(link)
    for output, place in itertools.product(outputs(verb), ("loop", "round/new")):
        with pytest.raises(ArtefactError, match="cannot be written: Too many levels of symbolic links"):
            command(verb).main(words(verb, {output: place}), standalone_mode=False)
    assert {path.name for path in tmp_path.iterdir()} == {loop.name, "round"}
