from __future__ import annotations

from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.cli._common import print_json, print_table, say
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Quiet, Reads, Seed
from hyperbaton.corpus.files import shown
from hyperbaton.evaluate.translations import MetricVerdict, compare_systems, read_outputs, score_translations
from hyperbaton.metrics import METRICS, Outputs, length_ratio, length_warning, make_metric

COLUMNS = ["metric", "system", "value", "interval", "deviation", "delta", "p", "p_holm", "wins", "length", "signature"]


def score(
    hypotheses: Annotated[str, Argument("HYP", "Translations, one per line."), READS],
    references: Annotated[list[str], Argument("REF...", "Reference translations."), READS],
    against: Annotated[
        list[str] | None, Flag("Translations of another system; repeat for each of its runs."), READS
    ] = None,
    run: Annotated[list[str] | None, Flag("Translations of another tuning run of the same system."), READS] = None,
    systems: Annotated[
        list[str] | None,
        Flag(
            "Translations of other systems, each compared with HYP; FILE,FILE,… are runs of one system.", metavar="FILE..."
        ),
        Reads(lambda value: value.split(",")),
    ] = None,
    source_links: Annotated[
        list[str] | None, Flag("Source-translation links, i-j; one file for HYP and for each --run, in order."), READS
    ] = None,
    reference_links: Annotated[list[str] | None, Flag("Source-reference links; one file for each REF."), READS] = None,
    against_links: Annotated[
        list[str] | None, Flag("Source-translation links; one file for each --against."), READS
    ] = None,
    metrics: Annotated[
        str | None,
        Flag("Comma-separated metrics, with options as in bleu:tokenize=none; by default all."),
        Reads(lambda _: [], METRICS),
    ] = None,
    test: Annotated[str, Flag("Significance test.", choices=("bootstrap", "randomization"))] = "bootstrap",
    samples: Annotated[int, Flag("Number of samples drawn for intervals and p-values.", minimum=1)] = 1000,
    seed: Seed = 0,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Score translations against references, and against another system.

    All files after HYP are references for the same sentences; give the translations of another system with --against.

    Each score has a 95% confidence interval from bootstrap samples of the sentences. With --against, the difference from
    the other system is printed with its p-value. With --systems, several systems are scored and compared with HYP; p_holm
    is p corrected for the number of systems. Intervals and p of systems with several runs include the differences between
    runs. Metrics of word order need the links of translations and references to the source.

    Length is the number of words of the translations for each word of the references; a ratio outside 0.95–1.05 is
    reported, because it changes BLEU and TER by itself.

    Examples:

        hyperbaton score out.en test.en
        hyperbaton score out.en test.en --against base.en --metrics bleu,ter --json
        hyperbaton score a1.en test.en --run a2.en --against b1.en --against b2.en
        hyperbaton score base.en test.en --systems hier.en dpr.en both.1.en,both.2.en
        hyperbaton score a.en b.en --source-links a.links --reference-links b.links
    """
    if len(references) > 1:
        remark = "; another system's translations are given with --against, another run's with --run"
        say(f"scoring {shown(hypotheses)} against {len(references)} references: {', '.join(references)}{remark}", quiet)
    runs = _read([hypotheses, *(run or [])], references, source_links, reference_links, "--source-links")
    others = _read(against or [], references, against_links, reference_links if against_links else None, "--against-links")
    if source_links and against and not against_links:
        raise OptionError("with --source-links and --against, --against-links are needed too")
    if metrics is None:
        chosen = [make_metric(name) for name in METRICS if source_links or not METRICS[name].needs_orders]
    else:
        chosen = [make_metric(name) for name in metrics.split(",")]
    if systems:
        if against or source_links:
            raise OptionError("--systems compares texts with HYP: do not give --against or --source-links with it")
        named = {name: _read(name.split(","), references, None, None, "--systems") for name in systems}
        compared = compare_systems(chosen, runs, named, test=test, samples=samples, seed=seed)
        for name, outputs in {shown(hypotheses): runs, **named}.items():
            _warn(f"{name}: ", length_ratio(outputs), quiet)
        _print_systems(shown(hypotheses), compared, json)
        return
    scores = score_translations(chosen, runs, others, test=test, samples=samples, seed=seed)
    _warn("", length_ratio(runs), quiet)
    if json:
        print_json({scored.metric.title: _entry(scored) for scored in scores})
    else:
        print_table([_row(scored) for scored in scores])


def _warn(name: str, length: float, quiet: bool) -> None:
    if remark := length_warning(length):
        say(f"warning: {name}{remark}", quiet)


def _print_systems(
    first: str, compared: list[tuple[MetricVerdict, dict[str, tuple[MetricVerdict, float]]]], json: bool
) -> None:
    if json:
        print_json(
            {
                verdict.metric.title: _entry(verdict)
                | {"systems": {name: _entry(scored) | {"p_holm": p} for name, (scored, p) in others.items()}}
                for verdict, others in compared
            }
        )
        return
    verdicts = (scored for verdict, others in compared for scored in (verdict, *(other for other, _ in others.values())))
    several = any(scored.estimate.n_runs > 1 for scored in verdicts)
    rows = []
    for verdict, others in compared:
        for name, (scored, p) in {first: (verdict, None), **others}.items():
            metric, *rest = _row(scored).items()
            rows.append(dict([metric, ("system", name), *rest]) | {"p_holm": "" if p is None else f"{p:.3f}"})
    columns = [column for column in COLUMNS if several or column != "deviation"]
    print_table([{column: row.get(column, "") for column in columns} for row in rows])


def _read(
    paths: list[str], references: list[str], links: list[str] | None, reference_links: list[str] | None, flag: str
) -> list[Outputs]:
    if links and len(links) != len(paths):
        raise OptionError(
            f"{flag} is given {counted(len(links), 'time')} for {counted(len(paths), 'file')} of translations"
        )
    return [
        read_outputs(path, references, links[i] if links else None, (reference_links or []) if links else [])
        for i, path in enumerate(paths)
    ]


def _entry(scored: MetricVerdict) -> dict[str, object]:
    estimate, compared = scored.estimate, scored.comparison
    entry: dict[str, object] = {"value": estimate.value, "interval": list(estimate.interval), "signature": scored.signature}
    entry["length"] = scored.length
    if estimate.n_runs > 1:
        entry |= {"deviation": estimate.deviation, "runs": estimate.n_runs}
    if compared is not None:
        entry |= {"delta": compared.delta, "p": compared.p, "wins": compared.wins}
    return entry


def _row(scored: MetricVerdict) -> dict[str, object]:
    estimate, compared = scored.estimate, scored.comparison
    row: dict[str, object] = {
        "metric": scored.metric.title,
        "value": round(estimate.value, 2),
        "interval": f"{estimate.interval[0]:.2f}–{estimate.interval[1]:.2f}",
    }
    if estimate.n_runs > 1:
        row["deviation"] = round(estimate.deviation, 2)
    if compared is not None:
        row |= {"delta": f"{compared.delta:+.2f}", "p": f"{compared.p:.3f}", "wins": round(compared.wins, 3)}
    return row | {"length": f"{scored.length:.3f}", "signature": scored.signature}
