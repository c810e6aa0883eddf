"""Systems, the commands around them, and odd input."""

from __future__ import annotations

import gzip
import json
import re
import select
import shutil
import subprocess
import sys
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from hyperbaton.base.errors import ArtefactError, InputError, OptionError
from hyperbaton.base.store import manifest_checksum
from hyperbaton.cli import Program
from hyperbaton.corpus.files import writing_outputs
from hyperbaton.decode import Decoding, NBest, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.diagnose import diagnose
from hyperbaton.decode.moses import export_moses, import_moses
from hyperbaton.decode.records import traces
from tests.oracles import decode as oracle
from tests.program import hyperbaton_bytes

GOLDEN = Path(__file__).parents[1] / "golden" / "moses"
LINES = (GOLDEN / "decode" / "input.src").read_text(encoding="utf-8").splitlines()


@pytest.fixture
def system(moses_system: System) -> System:
    return moses_system


@pytest.fixture(scope="module")
def saved(moses_system: System, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("systems") / "system"
    moses_system.save(path)
    return path


def scores(system: System, **options: Any) -> list[float]:
    translations = TokenTranslator(system, Decoding(**options), threads=1).translate_batch(LINES, NBest(1))
    return translations.scores.tolist()


def test_a_saved_system_is_the_same(system: System, saved: Path) -> None:
    assert scores(System.load(saved)) == scores(system)


def test_output_does_not_depend_on_threads_or_blocks(system: System) -> None:
    one = list(TokenTranslator(system, threads=1).translate_batch(LINES, NBest(3)).nbest(alignment=True))
    two = TokenTranslator(system, threads=3).batches(LINES, NBest(3), batch_size=7)
    first, lines = 0, []
    for block in two:
        lines += list(block.nbest(first, alignment=True))
        first += len(block)
    assert lines == one


def test_moses_export_reads_back(system: System, tmp_path: Path) -> None:
    back = import_moses(export_moses(system, tmp_path))
    assert scores(back) == scores(system)
    assert back.weights == system.weights


def test_export_leaves_out_rows_missing_from_a_table(system: System, tmp_path: Path) -> None:
    model = system.reordering["LexicalReordering0"]
    assert isinstance(model, ReorderingTable)
    holes = np.array(model.probabilities)
    holes[::3] = np.nan
    changed = System.of(system.table, system.lms, {"LR": ReorderingTable(model.kind, holes)})
    back = import_moses(export_moses(changed, tmp_path)).reordering["LR"]
    assert isinstance(back, ReorderingTable)
    np.testing.assert_array_equal(np.isnan(back.probabilities), np.isnan(holes))


def test_verbs(saved: Path, tmp_path: Path) -> None:
    text = ("\n".join(LINES) + "\n").encode()
    best = hyperbaton_bytes("translate", saved, text=text)
    assert best.returncode == 0 and best.stdout.count(b"\n") == len(LINES)
    listed = hyperbaton_bytes("translate", saved, "--nbest", 2, "--alignment", "--trace", tmp_path / "trace", text=text)
    lines = listed.stdout.decode().splitlines()
    assert lines[0].startswith("0 ||| ") and lines[0].count(" ||| ") == 4
    traced = [json.loads(line) for line in (tmp_path / "trace").read_text(encoding="utf-8").splitlines()]
    assert [" ".join(t["pieces"][0]["target"]) for t in traced] == best.stdout.decode().splitlines()
    unknown = hyperbaton_bytes("translate", saved, "--weight", "Oops=1", text=text)
    assert unknown.returncode == 1 and b"no such model" in unknown.stderr
    assert hyperbaton_bytes("export", "moses", saved, tmp_path / "model").returncode == 0
    assert hyperbaton_bytes("import", "moses", tmp_path / "model", "-o", tmp_path / "again").returncode == 0
    again = hyperbaton_bytes("translate", tmp_path / "again", text=text)
    assert again.stdout == best.stdout
    made = hyperbaton_bytes(
        "system", "-o", tmp_path / "third", "--moses-ini", tmp_path / "model" / "moses.ini", "--stack", 50
    )
    assert made.returncode == 0 and System.load(tmp_path / "third").options.stack == 50


def test_traces_add_up(system: System) -> None:
    translations = TokenTranslator(system, threads=1).translate_batch(LINES[:3], NBest(100))
    for trace in traces(translations):
        piece = trace["pieces"][0]
        total = sum(sum(phrase["weighted"].values()) for phrase in piece["phrases"])
        total += sum(
            w * v for name, values in piece["end"].items() for w, v in zip(system.weights[name], values, strict=True)
        )
        assert total == pytest.approx(piece["score"], abs=1e-4)
        assert piece["second_order"]["costs_more"] >= 0
        order = [i for phrase in piece["phrases"] for i in range(*phrase["source"])]
        assert sorted(order) == list(range(len(piece["source"])))


def test_search_graph_holds_the_best_translation(system: System) -> None:
    translations = TokenTranslator(system, Decoding(stack=30, pop_limit=200), threads=1).translate_batch(
        LINES[:4], NBest(1), graph=True
    )
    for sentence in range(4):
        rows = slice(*translations.graph_offsets[sentence : sentence + 2].tolist())
        places, values = translations.graph_places[rows], translations.graph_scores[rows]
        # The start lies on the best way; scores follow from the hypothesis before.
        assert values[0, 2] == pytest.approx(translations.scores[sentence])
        assert values[:, 2].max() == pytest.approx(translations.scores[sentence])
        before = values[np.maximum(places[:, 2], 0), 0]
        assert values[1:, 0] == pytest.approx((before + values[:, 1])[1:])
    assert len(list(translations.graph())) == len(translations.graph_places)


ODD = {
    "empty": "",
    "spaces": "   ",
    "unknown": "zzz yyy",
    "control": "n1 \x00\x07 n2\ttab\r",
    "bars": "n1 | n2 ||| [ ] <x> & a|b|||c",
    "markup": '<x translation="q">n1</x> <wall/> n2 </zone>',
    "odd bytes": "\ufeffn1 \u2028 \U0001f600",
    "long": " ".join(["n1", "de", "zzz"] * 170),
    "very long": "n2 " * 3000,
}


@pytest.mark.parametrize("search", ["stack", "cube", "refine"])
def test_odd_input_gives_a_line_each(system: System, search: str) -> None:
    options = Decoding(search=search, stack=20, pop_limit=50, max_words=100)
    lines = list(ODD.values())
    translated = TokenTranslator(system, options, threads=2).translate(lines)
    assert len(translated) == len(lines)
    assert translated[0] == translated[1] == ""
    assert translated[2] == "zzz yyy"
    assert "&#124;&#124;&#124;" in translated[4]
    assert translated[7].count("zzz") == 170


def test_input_that_is_refused(saved: Path, tmp_path: Path) -> None:
    done = hyperbaton_bytes("translate", saved, text=b"n1\n\x00\nn1 \xff\xfe n2\n")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr == b"hyperbaton: error: standard input:3: not valid UTF-8\n"
    (tmp_path / "long").write_bytes(b"n1\n" + b"n1 " * 60_001)
    done = hyperbaton_bytes("translate", saved, tmp_path / "long")
    assert done.stderr == f"hyperbaton: error: {tmp_path / 'long'}:2: more than 60000 tokens\n".encode()
    (tmp_path / "fine").write_bytes(b"n1\nn1\n")
    for verb in (["score"], ["score", tmp_path / "fine"], ["tune", saved, "-o", tmp_path / "tuned"], ["diagnose", saved]):
        arguments = [*map(str, verb), str(tmp_path / "long"), str(tmp_path / "fine")]
        error = CliRunner().invoke(Program(), arguments).exception
        assert isinstance(error, InputError) and str(error) == f"{tmp_path / 'long'}:2: more than 60000 tokens", verb


def test_outputs_are_complete_or_missing(saved: Path, tmp_path: Path) -> None:
    source, out, trace = (tmp_path / name for name in ("source", "out.gz", "trace"))
    source.write_text("\n".join(LINES[:4]) + "\n", encoding="utf-8")
    plain = hyperbaton_bytes("translate", saved, source).stdout
    done = hyperbaton_bytes("translate", saved, source, "-o", out, "--links", "-", "--trace", trace)
    assert (done.returncode, done.stdout.count(b"\n")) == (0, 4) and done.stdout.startswith(b"0-")
    assert gzip.decompress(out.read_bytes()) == plain and trace.read_text().count("\n") == 4

    before = source.read_bytes()
    for places, what in (
        ({"--output": "-", "--trace": source}, f"--trace would write to {source}, which is also an input; choose"),
        ({"--output": "-", "--trace": "-"}, "--output and --trace would both write to standard output; choose"),
        (
            {"--trace": trace, "--links": tmp_path / "." / "trace"},
            f"--trace and --links would both write to {trace}; choose",
        ),
        ({"--links": tmp_path}, f"{tmp_path}: a folder with that name already exists"),
    ):
        with pytest.raises((OptionError, ArtefactError), match=re.escape(what)), writing_outputs(places, [source]):
            pass
    with source.open("rb") as file:
        command = [sys.executable, "-m", "hyperbaton", "translate", saved, "--trace", source]
        done = subprocess.run(command, stdin=file, capture_output=True, check=False)
    assert b"--trace would write to standard input" in done.stderr
    assert source.read_bytes() == before

    if Path("/dev/full").exists():
        full = hyperbaton_bytes("translate", saved, source, "-o", "/dev/full")
        assert full.stderr == b"hyperbaton: error: /dev/full: cannot be written: No space left on device\n"

    trace.write_text("old")
    source.write_bytes(b"n1\n" * 256 + b"\xff\n")  # the first block is translated
    assert hyperbaton_bytes("translate", saved, source, "-o", tmp_path / "new", "--trace", trace).returncode == 1
    assert trace.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"source", "out.gz", "trace"}


def test_lines_are_answered_as_they_arrive(saved: Path) -> None:
    command = [sys.executable, "-m", "hyperbaton", "translate", str(saved)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for line in LINES[:3]:
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            assert select.select([process.stdout], [], [], 60)[0], "no answer"
            assert process.stdout.readline().strip()
        process.stdin.close()
    text = f"{LINES[0]}\n{LINES[1]}\n".encode()
    both = hyperbaton_bytes("translate", saved, text=text).stdout
    assert hyperbaton_bytes("translate", saved, text=text + b"\xff\n").stdout == b""
    assert hyperbaton_bytes("translate", saved, "--unbuffered", text=text + b"\xff\n").stdout == both


def test_drop_unknown(system: System) -> None:
    assert TokenTranslator(system, Decoding(drop_unknown=True)).translate(["zzz yyy", "n1 zzz"])[0] == ""


def test_markup_demands_walls_and_zones(system: System) -> None:
    translator = TokenTranslator(system, Decoding(markup=True, distortion_limit=-1), threads=1)
    lines = [
        'n1 <x translation="a &amp; b">de n2</x> v5 n3 .',
        "n1 de n2 <wall/> de n3 v5 .",
        "n3 <zone>de n1 de n2</zone> v5 n4",
    ]
    translations = translator.translate_batch(lines, NBest(20))
    for sentence in range(3):
        for path in range(int(translations.path_offsets[sentence]), int(translations.path_offsets[sentence + 1])):
            steps = translations.steps(path)
            order = [i for step in steps for i in range(step.begin, step.end)]
            if sentence == 0:
                assert [s.target for s in steps if (s.begin, s.end) == (1, 3)] == [["a", "&", "b"]]
            elif sentence == 1:
                # A phrase may cross the wall if nothing left of it is open.
                for i, step in enumerate(steps):
                    done = {w for s in steps[:i] for w in range(s.begin, s.end)}
                    gap = min(set(range(7)) - done)
                    assert step.begin == gap or not (gap <= 2 and step.end > 3)
            else:
                inside = [at for at, word in enumerate(order) if 1 <= word < 5]
                assert inside[-1] - inside[0] == 3 or any(s.begin < 1 < s.end or s.begin < 5 < s.end for s in steps)
    with pytest.raises(InputError, match="sentence 1: <x> is not closed"):
        translator.translate(['<x translation="q"> n1'])


def test_long_lines_beside_lines_with_markup(system: System) -> None:
    translator = TokenTranslator(system, Decoding(markup=True, max_words=3), threads=1)
    marked, long = '<x translation="q">n1</x> de n2', "n1 de n2 v5 n3"
    assert translator.translate([long, marked]) == [translator.translate(long), translator.translate(marked)]
    with pytest.raises(InputError, match="sentence 2: sentences with markup may have 3 words"):
        translator.translate([long, f"{marked} v5"])


def test_the_best_translation_of_a_long_line_joins_those_of_its_pieces(system: System) -> None:
    found = TokenTranslator(system, Decoding(max_words=3), threads=1).translate_batch([*LINES[:4], ""], NBest(3))
    for s, (line, links) in enumerate(zip(found.lines(), found.links(), strict=True)):
        words: list[str] = []
        joined: list[tuple[int, int]] = []
        n_source = 0
        for piece in range(found.pieces[s], found.pieces[s + 1]):
            best = found.paths(piece)[0]
            joined += [(n_source + i, len(words) + j) for i, j in found.links_of(best)]
            words += found.text[best]
            n_source += int(found.batch.source.lengths[piece])
        assert (line, links) == (" ".join(words), sorted(joined))


def test_forced_decoding_finds_the_score_of_its_own_output(system: System) -> None:
    free = TokenTranslator(system, threads=1)
    translations = free.translate_batch(LINES, NBest(1))
    forced = free.translate_batch(LINES, NBest(1), forced=translations.lines(), relax=False)
    assert forced.scores == pytest.approx(translations.scores, abs=1e-4)
    nothing = free.translate_batch(LINES[:2], NBest(1), forced=["no such words"] * 2, relax=False)
    assert nothing.lines() == ["", ""]


@pytest.mark.parametrize("search", ["stack", "cube", "refine"])
def test_orders_of_no_binary_bracketing_are_forbidden(system: System, search: str) -> None:
    options = Decoding(search=search, stack=0, pop_limit=10_000, distortion_limit=-1, itg=True)
    translator, source = TokenTranslator(system, options, threads=1), "u0 u1 u2 u3"  # unknown words are copied
    orders = [" ".join(order) for order in permutations(source.split())]
    found = translator.translate_batch([source] * len(orders), NBest(1), forced=orders, relax=False).lines()
    forbidden = {"u1 u3 u0 u2", "u2 u0 u3 u1"}
    assert found == ["" if order in forbidden else order for order in orders]
    lifted = translator.translate_batch([source], NBest(1), forced=["u1 u3 u0 u2"])
    assert lifted.lines() == ["u1 u3 u0 u2"] and lifted.relaxed.all()


def test_diagnosis_of_own_output(system: System) -> None:
    translated = TokenTranslator(system).translate(LINES[:20])
    diagnosis = diagnose(system, LINES[:20], translated)
    assert diagnosis.reachable == 20
    assert sum(v.reference for v in diagnosis.by_jump.values()) == 20
    assert 0 < diagnosis.cut_fraction < 1
    with pytest.raises(InputError, match="20 sentences, but 1 references"):
        diagnose(system, LINES[:20], ["x"])


def test_broken_systems(saved: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut"
    shutil.copytree(saved, cut)
    file = cut / "table.scores.npy"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(ArtefactError, match=r"table\.scores\.npy: damaged"):
        System.load(cut)
    less = tmp_path / "less"
    shutil.copytree(saved, less)
    manifest = json.loads((less / "manifest.json").read_text(encoding="utf-8"))
    manifest["details"]["weights"]["Ghost"] = [1.0]
    manifest["checksum"] = manifest_checksum(manifest)
    (less / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(ArtefactError, match="less: there is a weight for 'Ghost', but the system has no such model"):
        System.load(less)
    shutil.rmtree(less / "lm.0")
    with pytest.raises(ArtefactError, match=r"lm\.0: no such artefact"):
        System.load(less)


def test_distances_with_weight_zero_are_listed_too(system: System) -> None:
    """Without weight, limit and future cost the search forgets where a phrase ended; tuning needs the distance even so."""
    bare = System.of(system.table, system.lms, {}, {"Distortion0": 0.0})
    options = Decoding(distortion_limit=-1, future_distortion=False)
    translations = TokenTranslator(bare, options, threads=1).translate_batch(LINES[:10], NBest(3))
    for path in range(len(translations.scores)):
        steps = [oracle.Step(step.begin, step.end, ()) for step in translations.steps(path)]
        assert translations.named(translations.totals[path])["Distortion0"] == [oracle.distortion(steps)]
