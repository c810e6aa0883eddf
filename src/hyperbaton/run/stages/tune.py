"""The weights of a system, tuned on the dev split; every iteration is kept, so that tuning goes on where it stopped."""

from __future__ import annotations

from dataclasses import replace

from hyperbaton.base.options import from_mapping
from hyperbaton.decode import System
from hyperbaton.run.stage import Work
from hyperbaton.run.texts import Texts
from hyperbaton.tune import Tuning, tune
from hyperbaton.tune.system import SystemDecoder


def run(work: Work) -> None:
    options, texts = work.options, Texts(work.inputs)
    system = System.load(work.inputs["system"] / "system")
    decoder = SystemDecoder(
        system,
        texts.lines("dev", "source"),
        annotations=texts.for_decoder("dev", options["columns"]),
        n_best=options["n_best"],
        options=replace(system.options, distortion_limit=options["limit"]),
        threads=work.threads,
    )
    tuned = tune(
        decoder,
        decoder.start,
        [texts.lines("dev", "target")],
        from_mapping(Tuning, options["tuning"]),
        seed=options["seed"],
        threads=work.threads,
        folder=work.scratch / "tuning",
    )
    best = decoder.with_weights(tuned.weights)
    work.write_json(
        "weights.json",
        {
            "weights": {name: list(values) for name, values in best.weights.items()},
            "score": tuned.score,
            "stopped": tuned.stopped,
            "failure": tuned.failure,
            "history": [
                {"iteration": i, "objective": turn.score, "held_out": None} for i, turn in enumerate(tuned.history)
            ],
        },
    )
