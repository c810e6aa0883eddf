from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from hyperbaton.base.errors import OptionError
from hyperbaton.cli._common import print_table, say, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FOLDER, Argument, Flag, Json, Verify
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.evaluate import Evaluation, HeldOut
from hyperbaton.evaluate import evaluate as measure
from hyperbaton.models import load_model


def evaluate(
    arguments: Annotated[
        list[str], Argument("DIR… SRC TGT LINKS", "Trained models, then the held-out bitext with links."), READS
    ],
    *,
    max_length: Annotated[int, Flag("Longest phrase, in words, on either side.", minimum=1, maximum=255)] = 8,
    max_distance: Annotated[int, Flag("Skip phrase pairs that move farther; 0 keeps all.", minimum=0)] = 15,
    source_tags: Annotated[str | None, Flag("Tags of the source words, for models trained with tags."), READS] = None,
    source_trees: Annotated[str | None, Flag("Trees of the source sentences, for models that use them."), READS] = None,
    plots: Annotated[Path | None, Flag("Folder for pictures."), WRITES_FOLDER] = None,
    verify: Verify = False,
    common: ThreadOptions,
    as_json: Json = False,
) -> None:
    """Test trained models on a held-out bitext: how often each predicts the right movement.

    Orientation models classify phrase pairs; jump models predict the next source word and ignore --max-length and
    --max-distance. A block model predicts target and jump of each block on the path.

    Examples:

        hyperbaton evaluate lr mms test.zh test.en test.links
        hyperbaton evaluate lr mms test.zh test.en test.links --json --plots pictures
        hyperbaton evaluate pair sequence a.ja a.en a.links --source-tags a.pos
    """
    if len(arguments) < 4:
        raise OptionError("give at least one model, and the three files SRC TGT LINKS")
    *folders, source, target, links = arguments
    verify_artefacts(verify, *folders)
    bitext = Bitext.read(source, target, links)
    annotations = Annotations.read({"source_tags": source_tags, "source_trees": source_trees}, bitext.source)
    held_out = HeldOut(bitext, annotations, max_length, max_distance)
    evaluations: dict[str, Evaluation] = {}
    rows: dict[str, list[dict[str, object]]] = {}  # by shape
    for folder in folders:
        model = load_model(folder)
        model.threads = common.n_threads
        evaluation = evaluations[folder] = measure(model, held_out)
        who = {"model": model.name, "path": folder}
        shown = {"train s": round(model.train_seconds_, 1), "train MiB": round(model.train_peak_mib_)}
        rows.setdefault(evaluation.shape, []).append({**who, **evaluation.row(), **shown})
        if as_json:  # one object, one line
            print(json.dumps({**who, **evaluation.record(), **model.costs}, ensure_ascii=False))
    if plots is not None:
        say(f"pictures: {', '.join(map(str, _draw(plots, evaluations)))}", common.quiet)
    if not as_json:
        for table in rows.values():
            print_table(table)


def _draw(folder: Path, evaluations: dict[str, Evaluation]) -> list[Path]:
    from hyperbaton.report.figures import write_figure
    from hyperbaton.report.model_sections import evaluation_figures

    paths = []
    for name, figure in evaluation_figures(
        {Path(f).name: evaluation.record() for f, evaluation in evaluations.items()}
    ).items():
        paths.append(folder / f"{name}.svg")
        write_figure(figure, paths[-1])
    return paths
