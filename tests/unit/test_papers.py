"""The papers: small cells of each protocol on generated text, resumed after an interruption, and the page."""

from __future__ import annotations

import doctest
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from papers import corpora, tables
from papers.__main__ import main
from papers.corpora import PARTS, repetitive_part
from papers.experiments import Experiment, ExperimentResult, Experiments
from papers.go13 import BLEU, WithWeightsOfAll
from papers.go13 import SystemComparison as TunedComparison
from papers.ni11.cells import SYSTEMS, Classification, Statistics, SystemComparison, bare_logprobs
from papers.ni11.clusters import Cluster, Clusters, ClusterSample, ClusterTable
from papers.ni11.further import neighbours
from papers.ni11.learners import Part, at_most, kernel_scores, scores_of_seen_length
from papers.processes import in_process
from papers.protocol import MARKS, Cell, Result, Results, Setting
from papers.running import PAPERS, CellFailed, cell_states, open_paper, reproduce
from papers.xi11 import orders, texts

from hyperbaton.base.errors import HyperbatonError, InputError, OptionError
from hyperbaton.base.rows import Rows
from hyperbaton.corpus import Bitext, Links, Tags, Text, Trees
from hyperbaton.data import generate
from hyperbaton.learn import LEARNERS
from hyperbaton.models import MODELS
from hyperbaton.phrases import Occurrences, extract
from hyperbaton.report.elements import Number, Table

DOCS = Path(__file__).parents[2] / "docs"
README = (DOCS.parent / "papers" / "README.md").read_text(encoding="utf-8")
# Cells that take a second or two; the others are tested as experiments of `run`.
SHORT = {
    "ni11": ["random-300-?-three-LR*", "random-300-?-three-MMS", "statistics", "clusters-600", "learners-300-three"],
    "al14": ["classification-*-dual-1", "classification-*-literal-dual-0.1", "generated-*"],
    "go13": ["*-prediction"],
    "xi11": ["jumps", "features", "agreement"],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_short_cells_of_every_paper_make_a_page(name: str, tmp_path: Path) -> None:
    lines: list[str] = []
    setting = Setting(tmp_path / name, quick=True, threads=1, say=lines.append)
    done = reproduce(name, setting, cells=SHORT[name], command="the command")
    assert done.page is not None
    page, text = done.page.read_text(encoding="utf-8"), (done.page.parent / "report.md").read_text(encoding="utf-8")
    assert 0 < done.n_done < done.n_cells and "the command" in page
    for item in open_paper(name, setting).items:
        assert f"## {item.name}: " in text.replace("\\", "")
    assert "Not run yet." in text and lines
    # Finished cells are not run again, and the same results give the same page.
    lines.clear()
    assert reproduce(name, setting, cells=SHORT[name], command="the command") == done and not lines
    assert done.page.read_text(encoding="utf-8") == page
    if name == "ni11":  # another seed is another result
        reproduce(name, replace(setting, seed=2), cells=["statistics"])
        assert lines == ["cell 1 of 1: statistics"]


@pytest.mark.slow
def test_systems_with_fixed_weights_are_cells_too(
    tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "executable", str(python))  # stages start fast
    assert main(["xi11", "--quick", "-o", str(tmp_path / "xi11"), "--cells", "laws-alone"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"page: {tmp_path}/xi11/page/index.html\n" and "1 of 6 cells done" in printed.err
    tuned = list((tmp_path / "xi11" / "runs" / "stages").glob("tune.ME.1-*/weights.json"))
    assert json.loads(tuned[0].read_text(encoding="utf-8"))["weights"]["TranslationModel0"] == [0, 0, 0.02, 0]


@pytest.mark.slow
def test_jump_models_of_few_sentences_have_the_weights_of_all(
    tmp_path: Path, python: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(python))
    few = WithWeightsOfAll(TunedComparison("kyoto", 300, "few", 30, ("SEQUENCE",), 150, "given", False, 1))
    assert few.work(Setting(tmp_path, quick=True, threads=1)).score("SEQUENCE", BLEU) is not None
    stages = tmp_path / "runs-kyoto-few-limit-30" / "stages"
    weights = [json.loads(file.read_text())["weights"] for file in stages.glob("tune.SEQUENCE.1-*/weights.json")]
    for each in weights:  # which is free, since something must be
        del each["UnknownWordPenalty0"]
    assert len(list(stages.glob("train.sequence-*"))) == len(weights) == 2
    assert weights[0] == weights[1]


def test_the_variants_of_al14_are_planned_and_predict(tmp_path: Path) -> None:
    setting = Setting(tmp_path, quick=True)
    paper = open_paper("al14", setting)
    cell = next(cell for cell in paper.cells() if isinstance(cell, Experiment))
    experiments = Experiments(setting, lambda *_: None, lambda *_: None)
    experiments.add(cell)
    stages = experiments.plans[cell].stages
    uses = {name: stages[f"system.{name}"].options["reordering"] for name in ("dual-both", "table-both")}
    assert [use["table"] for use in uses["table-both"].values()] == ["wbe-msd-bidirectional-fe"]
    assert all(use["per_class"] and not use["table"] for use in uses["dual-both"].values())
    assert stages["train.dual-all"].options["options"]["min-pair-count"] == 2
    names = [name.removeprefix("system.") for name in stages if name.startswith("system.")]
    predicted = [
        {"model": f"{name}{side}", "overall_precision": 60 + number, "mean_logprob": -0.5}
        for number, side in enumerate(("", " (after)"))
        for name in names
    ]
    result = ExperimentResult([], predicted, [], [], {}, 1.0)
    *_, table = paper.elements(next(i for i in paper.items if i.name == "Table 3"), Results({cell.name: result}))
    assert isinstance(table, Table)
    (group,) = table.groups
    assert len(group.rows) == len(names)
    assert all([c.value for c in row[1:] if isinstance(c, Number)] == [40, -0.5, 39, -0.5] for row in group.rows)


def _results(folder: Path) -> dict[str, object]:
    """Results of cells, without what differs between any two runs."""

    def lasting(value: Any) -> Any:
        if isinstance(value, list):
            return [lasting(one) for one in value]
        changing = ("seconds", "train_seconds", "processor_seconds", "peak_mib", "train_peak_mib", "path")
        return {k: lasting(v) for k, v in value.items() if k not in changing} if isinstance(value, dict) else value

    files = sorted((folder / "cells").glob("*.json"))
    return {file.stem: lasting(json.loads(file.read_text(encoding="utf-8"))["result"]) for file in files}


@pytest.mark.slow
def test_cells_side_by_side_have_the_same_results(tmp_path: Path) -> None:
    cells = ["random-300-1-three-LR", "random-300-2-three-MMS"]
    for jobs in (1, 2):
        reproduce("ni11", Setting(tmp_path / str(jobs), quick=True, threads=jobs, jobs=jobs), cells=cells)
    alone, beside = (_results(tmp_path / str(jobs)) for jobs in (1, 2))
    assert alone == beside and len(alone) == 2


def _fail(cell: Cell[Result], setting: Setting) -> Result:
    raise InputError("no text")


def test_a_cell_that_fails_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def mistake(cell: Classification, setting: Setting) -> Result:
        raise KeyError("a mistake")

    def refuse(cell: SystemComparison, setting: Setting) -> dict[str, object]:
        raise OptionError("no systems")

    monkeypatch.setattr(Statistics, "work", _fail)
    monkeypatch.setattr(Classification, "work", mistake)
    monkeypatch.setattr(Clusters, "work", lambda cell, setting: ClusterTable([], [], []))
    monkeypatch.setattr(SystemComparison, "experiment", refuse)
    setting = Setting(tmp_path, quick=True)
    with pytest.raises(
        CellFailed,
        match=r"cell statistics failed: no text \(and 2 more: random-300-1-three-LR, translation-600\); finished cells",
    ):
        reproduce("ni11", setting, cells=["statistics", "random-300-1-three-LR", "clusters-600", "translation-600"])
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["cells", "paper.json"]  # no page
    states = cell_states("ni11", setting)
    assert states["clusters-600"] and not states["statistics"] and not states["translation-600"]


def test_models_of_ni11_replace_the_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell, setting = SystemComparison("random", 600), Setting(tmp_path, quick=True)
    translation, identity = cell.experiment(setting)["translation"], cell.identity(setting)
    assert {*translation["fix"]} == {*translation["systems"]} - {"distance", "msd"} == {"dpr3", "dpr5", "me3", "me5"}
    assert all(weights == {"Distortion0": 0} for weights in translation["fix"].values())
    monkeypatch.setitem(SYSTEMS, "me5", replace(SYSTEMS["me5"], fixed={}))
    assert cell.identity(setting) != identity  # results of other systems are not used


@pytest.mark.slow
def test_a_circle_of_figure_13_opens_its_cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: Any) -> None:
    sample = ClusterSample(("he", "<b>"), "of any", "d<0", {"LR": "d=0", "ME": "d<0", "MMS": "d<0"})
    clusters = [
        Cluster(f"phrase {k}", 30 * k, 4 * k, 12, {"LR": lr, "ME": 50.0, "MMS": 62.5}, [sample], {"always": [0.5, -0.5, 0]})
        for k, lr in enumerate((50.0, 80.0, 60.0), start=1)
    ]
    segments = [{"source": [1, 2], "target": ["of"]}, {"source": [0, 1], "target": ["any"]}]
    order = {"system": "order of translation", "segments": segments}
    example = {"id": "with b", "source": ["a", "b"], "reference": ["of", "any"], "hypotheses": [order]}
    table = ClusterTable(clusters, ["d<0", "d=0", "d>0"], [example])
    monkeypatch.setattr(Clusters, "work", lambda cell, setting: table)
    done = reproduce("ni11", Setting(tmp_path, quick=True), cells=["clusters-600"])
    assert done.page is not None
    page = done.page.read_text(encoding="utf-8")
    links = re.findall(r'<a xlink:href="#(cluster-600-\d)">', page)
    cards = re.findall(r'<article class="card" id="([^"]+)">\s*<h3>([^<]+)</h3>', page)
    assert sorted(links) == sorted(2 * [name for name, _ in cards])  # in the pictures of LR and ME
    assert [title for _, title in cards] == ["phrase 1", "phrase 2", "phrase 3"]
    assert "he [phrase 1] &lt;b&gt;" in page and "fewer than 50" in page and "http" not in page.partition("<body>")[2]
    text = (done.page.parent / "report.md").read_text(encoding="utf-8")
    assert "\\[2–2: of\\] \\[1–1: any\\]" in text and "he \\[phrase 1\\]" not in text
    tab = request.getfixturevalue("chromium").new_page(color_scheme="dark")
    tab.goto(done.page.as_uri())
    cards_shown = "[...document.querySelectorAll('.card')].filter((card) => card.offsetHeight).map((card) => card.id)"
    assert tab.evaluate(cards_shown) == []
    tab.locator("#figure-figure-13-600-LR a").nth(1).click()
    assert tab.evaluate(cards_shown) == [links[1]]
    tab.close()


def _random_part(rng: np.random.Generator, n: int, n_features: int) -> Part:
    rows = rng.random((n, n_features)) < 0.4
    rows[:, 0] = True
    indptr, indices = np.append(0, rows.sum(axis=1).cumsum()), np.nonzero(rows)[1].astype(np.int32)
    sentences, labels, clusters = np.arange(n), rng.integers(0, 3, n), rng.integers(0, 2, n)
    return Part(sentences, Rows(indptr, indices, n_features), labels, clusters, sentences, np.ones((n, 3), bool))


def test_learners_of_clusters_are_compared_on_equal_terms() -> None:
    rng = np.random.default_rng(1)
    train, test = _random_part(rng, 60, 9), _random_part(rng, 20, 9)
    # A polynomial of degree 1 is the linear kernel, trained for one cluster after another or for all at once.
    options = "mmr:tolerance=1e-9:unit-length=yes"
    linear = LEARNERS.make(options).fit_clusters(train.rows, train.labels, train.clusters, 3)
    by_kernel = kernel_scores(f"{options}:kernel=polynomial:degree=1:shift=0", train, test, 3)
    assert np.allclose(by_kernel, linear.scores(test.rows, test.clusters), atol=1e-4)
    # Features that a cluster has not seen do not count for the length of a row.
    few = _random_part(rng, 60, 5)
    few_rows = replace(few.rows, n_features=9)
    model = LEARNERS["psl"](unit_length=True).fit_clusters(few_rows, few.labels, few.clusters, 3)
    seen = [set(model.features[model.offsets[c] : model.offsets[c + 1]].tolist()) for c in range(2)]
    scores = scores_of_seen_length(model, test.rows, test.clusters, 1)
    for i, cluster in enumerate(test.clusters.tolist()):
        known = sorted({*test.rows.at(np.array([i])).indices.tolist()} & seen[cluster])
        row = Rows(np.array([0, len(known)]), np.array(known, np.int32), 9)
        assert np.allclose(scores[i], model.scores(row, [cluster])[0], atol=1e-6)
    chosen = at_most(5, train.clusters, 1)
    assert np.bincount(train.clusters[chosen]).tolist() == [5, 5] and (np.diff(chosen) > 0).all()
    wider = train.with_columns([train.labels, 2 - train.labels], 3)
    last = wider.rows.at(np.array([7])).indices[-2:] - 9
    assert wider.rows.n_features == 15 and last.tolist() == [train.labels[7], 5 - train.labels[7]]


def test_neighbours_of_a_phrase_are_the_smallest_phrases_beside_it() -> None:
    samples = extract(Bitext.of(["a b c"] * 2, ["x y z"] * 2, [[(0, 0), (1, 2), (2, 1)]] * 2), 3)
    phrases = [(sample.sentence, sample.source) for sample in samples]
    beside = {
        side: {phrases[i]: phrases[k][1] for i, k in enumerate(neighbours(samples, side)) if k >= 0}  # type: ignore[arg-type]
        for side in ("before", "left", "right")
    }
    for s in (0, 1):
        assert {p: near for (t, p), near in beside["before"].items() if t == s} == {"c": "a", "b": "c", "b c": "a"}
        assert {p: near for (t, p), near in beside["left"].items() if t == s} == {"b": "a", "c": "b", "b c": "a"}
        assert {p: near for (t, p), near in beside["right"].items() if t == s} == {"a": "b", "b": "c"}


def test_the_repetitive_part_is_divided_into_texts_of_an_experiment(tmp_path: Path) -> None:
    setting, cell = Setting(tmp_path, quick=True, tuning_lines=20), SystemComparison("repetitive", 300)
    corpus = cell.experiment(setting)["corpus"]
    columns = ("source", "target", "links")
    sizes = {split: len(Bitext.read(*(files[column] for column in columns))) for split, files in corpus.items()}
    assert sizes == {"test": 100, "dev": 20, "train": 300}
    assert cell.experiment(setting)["corpus"] == corpus


def test_a_folder_of_something_else_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Statistics, "work", _fail)
    with pytest.raises(CellFailed, match="no page was written"):
        reproduce("ni11", Setting(tmp_path / "new" / "folder", quick=True), cells=["statistics"])
    assert [path.name for path in (tmp_path / "new").iterdir()] == []
    letters, other, file = tmp_path / "letters", tmp_path / "other", tmp_path / "file"
    for path, content in ((letters / "letter.txt", "Dear"), (other / "paper.json", '{"paper": "al14"}'), (file, "x")):
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    for folder, message in (
        (letters, "letters: not a folder of results of a paper; choose one that is empty or new"),
        (other, "other/paper.json: expected 'ni11' under 'paper', found 'al14'; choose another folder"),
        (file, "file: a file with that name already exists"),
    ):
        with pytest.raises(HyperbatonError, match=re.escape(message)):
            reproduce("ni11", Setting(folder, quick=True), cells=["statistics"])
    assert [path.name for path in letters.iterdir()] == ["letter.txt"]


@pytest.mark.parametrize("name", PAPERS)
def test_missing_corpora_are_one_line_and_leave_nothing(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, new = tmp_path / "corpora", tmp_path / "new"
    for message in (
        "there is no such folder of corpora",
        r"the folder of the corpora lacks \S+, \S+, \S+ and \d+ more files",
    ):
        assert main([name, "--data", str(data), "-o", str(new)]) == 1
        printed = capsys.readouterr()
        assert re.fullmatch(f"papers: error: {re.escape(str(data))}: {message}\n", printed.err) and not printed.out
        assert not new.exists()
        data.mkdir(exist_ok=True)


def test_only_the_corpora_of_chosen_cells_are_needed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "corpora"
    (data / "tatoeba-ar-en").mkdir(parents=True)
    for end in ("ar", "en", "links.xz"):
        (data / "tatoeba-ar-en" / f"train.{end}").touch()
    assert main(["al14", "--data", str(data), "-o", str(tmp_path / "new"), "--cells", "translation-tatoeba"]) == 1
    files = (f"tatoeba-ar-en/dev.{end}.xz" for end in ("ar", "en", "links"))
    assert capsys.readouterr().err == f"papers: error: {data}: the folder of the corpora lacks {', '.join(files)}\n"


def test_a_process_that_is_killed_is_an_error_in_a_line() -> None:
    assert in_process(abs, -3) == 3
    with pytest.raises(HyperbatonError, match=r"^ValueError: invalid literal for int"):
        in_process(int, "x")
    with pytest.raises(HyperbatonError, match="ended by signal 6; is there enough memory"):
        in_process(os.abort)


def test_mistakes_are_one_line_errors(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"unknown paper 'ni12' \(did you mean ni11"):
        reproduce("ni12", Setting(tmp_path, quick=True))
    with pytest.raises(OptionError, match="no cell of al14 is called nothing; there are classification-600-primal, "):
        reproduce("al14", Setting(tmp_path, quick=True), cells=["nothing"])
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "statistics.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="this is not a result of a cell"):
        reproduce("ni11", Setting(tmp_path, quick=True), cells=["statistics"])


def test_cells_are_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    variants = ("limit-10", "beside-limit-10", "rules-limit-20", "itg-limit-20", "few-limit-30")
    names = ["kyoto-prediction", *(f"kyoto-{variant}" for variant in variants)]
    assert main(["go13", "--quick", "-o", str(tmp_path / "go13"), "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == ["cell\tdone", *(f"{name}\tno" for name in names)]
    assert main(["go13", "--quick", "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == ["cell", *names]
    with pytest.raises(SystemExit, match="2"):
        main(["go13", "--quick"])
    assert "give a folder for the results" in capsys.readouterr().err


def test_the_repetitive_part_repeats_itself() -> None:
    text = generate(1500, style="chinese", seed=3).bitext
    shares = {}
    for kind, part in PARTS.items():
        chosen = part(text, 300, 1)
        assert len(set(chosen.tolist())) == 300 and (np.diff(chosen) > 0).all()
        assert chosen.tolist() == part(text, 300, 1).tolist()
        grams = [tuple(words[i : i + 4]) for s in chosen for words in [text.source[int(s)]] for i in range(len(words) - 3)]
        shares[kind] = 1 - len(set(grams)) / len(grams)  # of 4-grams that are not the first of their kind
    assert shares["repetitive"] > 5 * shares["random"]
    assert PARTS["random"](text, 300, 2).tolist() != PARTS["random"](text, 300, 1).tolist()
    same = Bitext.of(["a b c d e f"] * 5 + ["p q r s t u", "a b c d e g"], ["t"] * 7)
    assert repetitive_part(same, 2, 1).tolist() == [0, 6]


def test_bare_frequencies_have_no_back_off() -> None:
    text = generate(200, style="chinese", seed=3).bitext
    train, test = text.select(np.arange(150)), text.select(np.arange(150, 200))
    model = MODELS["lexicalized"](orientations="three", max_distance=0).fit(train)
    samples = extract(test, 7)
    occurrences = Occurrences.of_samples(test, samples)
    logprobs = bare_logprobs(model, occurrences)  # type: ignore[arg-type]
    seen = model.pairs_.at(model.known(occurrences).pair_keys()).sum(axis=1) > 0  # type: ignore[attr-defined]
    assert 0 < seen.sum() < len(seen)
    assert (logprobs[~seen] == [-np.inf, 0, -np.inf]).all() and np.allclose(np.exp(logprobs).sum(axis=1), 1)


def test_the_text_of_xi11_has_trees_first_then_n_grams_of_the_tests() -> None:
    source = Text.of(["a b c d e", "a x x x x", "c c c c c", "a a", "c d e f g"])
    bitext = Bitext(source, source, Links.of([[]] * 5))
    trees = Trees.of(["", "", "(S (X c) (X c) (X c) (X c) (X c))", "", ""], source)
    laws = texts.Part(bitext, texts.tree_tags(source, trees), trees)
    chosen = [texts.training_sentences(laws, [Text.of(["d e", "a"])], n).tolist() for n in (1, 2, 3, 9)]
    assert chosen == [[2], [0, 2], [0, 1, 2], [0, 1, 2, 4]]  # the fourth is too short


def test_jumps_of_xi11_are_between_linked_words() -> None:
    bitext = Bitext.of(["n v n n t"], ["a b c d"], [[(0, 0), (4, 1), (2, 2), (3, 3)]])
    part = texts.Part(bitext, Tags.of(["N V N N T"], bitext.source), Trees.of([""], bitext.source))
    jumps = {unit: orders.TagJumps.of(part, "", ("NN", "N"), unit).counts for unit in ("words", "linked words")}
    made = {unit: {jump: n for jump, n in counts.items() if n} for unit, counts in jumps.items()}
    assert made == {"words": {"-2": 1, "1": 2}, "linked words": {"-2": 1, "1": 2}}
    times = {unit: orders.TagJumps.of(part, "", ("T",), unit).counts for unit in ("words", "linked words")}
    assert times["words"]["4"] == times["linked words"]["3"] == 1


@pytest.mark.parametrize("module", [corpora, tables, orders, texts])
def test_examples_in_docstrings(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert results.attempted and not results.failed


def test_the_page_of_the_papers_has_every_table_and_figure_with_a_mark() -> None:
    rows = re.findall(r"^\| (NI11|AL14|GO13|XI11) (\w+ \d+) \|[^|]*\| ([^|]*) \|", (DOCS / "papers.md").read_text(), re.M)
    papers = {name: open_paper(name, Setting(Path(name))) for name in PAPERS}
    expected = {(name.upper(), item.name) for name, paper in papers.items() for item in paper.items}
    assert len(expected) == 27 and {(paper, item) for paper, item, _ in rows} == expected and len(rows) == 27
    assert {mark.strip("* ") for _, _, mark in rows} <= set(MARKS)


@pytest.mark.parametrize("name", PAPERS)
def test_the_readme_of_a_paper_names_its_cells_and_links_to_pages(name: str) -> None:
    folder = DOCS.parent / "papers" / name
    text = (folder / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", text, re.M)
    cells = {cell.name for cell in open_paper(name, Setting(Path(name), data=Path("corpora"))).cells()}
    named = {cell for row in rows for cell in re.findall(r"`([^`]+)`", row) if "…" not in cell}
    assert named and named <= cells
    links = re.findall(r"\]\(([^)]+)\)", text) + [f"../{link}" for link in re.findall(r"\]\(([^)]+)\)", README)]
    assert all((folder / link).exists() for link in links)
