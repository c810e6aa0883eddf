"""A translation system: it refers to the phrase table, language model and reordering models of the stages before."""

from __future__ import annotations

from hyperbaton.base.options import from_mapping
from hyperbaton.decode import Decoding
from hyperbaton.decode.assemble import assemble
from hyperbaton.run.stage import Work


def run(work: Work) -> None:
    reordering = {
        name: told["table"] or str(work.inputs[f"model.{name}"] / "model")
        for name, told in work.options["reordering"].items()
    }
    assemble(
        work.inputs["phrases"] / "phrases",
        [work.inputs["lm"] / "lm"],
        reordering,
        options=from_mapping(Decoding, work.options["decoding"]),
        scaled={name: told["scaled"] for name, told in work.options["reordering"].items() if told["scaled"] is not None},
        inside=[name for name, told in work.options["reordering"].items() if told["inside"]],
    ).save(work.out / "system")
