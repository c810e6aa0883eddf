"""The common case in one object: train a tuned translator from a bitext.

`Translator.train` combines the stages of an experiment: links, phrases or hierarchical rules, a language model, a
reordering model, and tuned weights; phrases also have Moses' hierarchical reordering table. What is trained is chosen from
the links, the size of the text and the minutes given, with the figures that `hyperbaton run` uses for planning (`RATES` of
the stages). Time is never measured, so the same text and options give the same translator on every machine:

    rules           with `sequence` inside, if many phrases move far and all that fits, together with four iterations of
                    tuning (docs/which-system.md has the measurements)
    the model       otherwise, the first of `sequence`, `pair` and `dpr` whose training fits likewise; none if none does
    the tuning      as many iterations as fit in the remaining time, 1 to the default of `tune`

A minute is processor time on a single core of a small machine.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import cached_property
from os import PathLike
from typing import NamedTuple, Protocol, Self

import numpy as np

from hyperbaton.align import align
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Option
from hyperbaton.base.progress import Bars, Progress, n_threads
from hyperbaton.base.resources import Resources
from hyperbaton.corpus import Annotations, Bitext
from hyperbaton.corpus.annotations import NOTHING
from hyperbaton.corpus.bitext import need_bitext
from hyperbaton.corpus.processing import TextProcessing
from hyperbaton.corpus.text import raw_word
from hyperbaton.decode import Decoding, NBest, ReorderingTable, System, TokenTranslator
from hyperbaton.decode.raw import RawTranslator
from hyperbaton.decode.result import TRACED
from hyperbaton.lm import LanguageModel
from hyperbaton.models import MODELS
from hyperbaton.phrases import PhraseTable, ReorderingType, extract
from hyperbaton.phrases.extraction import extract_phrases
from hyperbaton.phrases.pair_values import DistinctRows
from hyperbaton.phrases.reordering import probability_pieces
from hyperbaton.phrases.rules import RuleTable, extract_rules
from hyperbaton.report.picture import TranslationPicture
from hyperbaton.run.cost import WORDS, Size, cost_of
from hyperbaton.run.stages import align as align_stage
from hyperbaton.run.stages import extract as extract_stage
from hyperbaton.run.stages import lm as lm_stage
from hyperbaton.run.stages import train as train_stage
from hyperbaton.run.stages import tune as tune_stage
from hyperbaton.tune import Tuning
from hyperbaton.tune.loop import Iteration
from hyperbaton.tune.runs import DevelopmentText, TuningRuns

log = logging.getLogger(__name__)

RULES, INSIDE = "rules", "sequence"  # instead of phrases, and the jump model that scores their order
BEST_FIRST = ("sequence", "pair", "dpr")  # reordering models used with the hierarchical table
# Rules are used if at least this share of phrase pairs moves this far, in words: 0.40 in Japanese articles, where rules
# translate better; 0.25 in Chinese laws and 0.006 in Arabic everyday sentences.
FAR_SHARE, FAR, SAMPLED = 0.3, 5, 3000
MOST_MIB = 8192  # for extracting rules
RULE_COST = 2  # of a turn of tuning rules, beside the figures for planning, which are for small pop limits
TABLE = "hier-mslr-bidirectional-fe"
FEWEST, MOST = 4, Tuning().iterations  # iterations of tuning: the least that a model must leave time for, and the maximum
DEV_SHARE, MOST_DEV = 20, 1000  # without a development text: every 20th pair, at most this many
AUTO, NO_MODEL, PHRASES = "auto", "none", "phrases"


class Report(Protocol):
    """Called with the name of a stage, items done and the total; returns False to cancel."""

    def __call__(self, stage: str, done: int, total: int) -> bool | None: ...


class TrainingPlan(NamedTuple):
    """The training that fits into the given time: phrases or rules, a reordering model or `none`, iterations of tuning."""

    table: str
    model: str
    iterations: int
    seconds: float  # of a single processor, estimated


def plan_training(
    bitext: Bitext, dev: Bitext, minutes: float, model: str = AUTO, *, aligning: bool | None = None
) -> TrainingPlan:
    """Choose phrases or rules, a reordering model and the number of iterations, by what moves, the sizes and the time.

    Arguments:
        model: a reordering model by its name, `rules` or `none`, to choose it.
        aligning: whether the time includes making the links of the bitext; by default, if it has none.

    >>> text = Bitext.of(["a b c d e f g h i j k l"] * 400, ["x"] * 400, [[]] * 400)
    >>> [plan_training(text, text[:50], minutes).model for minutes in (0.05, 0.15, 10)]
    ['none', 'sequence', 'sequence']
    """
    size = Size(-(-bitext.source.n_tokens // WORDS), -(-dev.source.n_tokens // WORDS), 0)
    aligning = bitext.links is None if aligning is None else aligning
    common = sum(cost_of(stage.RATES, "", size).seconds for stage in [*([align_stage] if aligning else []), lm_stage])

    def plan(table: str, model: str) -> TrainingPlan:
        extracting = cost_of(extract_stage.RATES, table, size)
        training = 0.0 if model == NO_MODEL else cost_of(train_stage.RATES, model, size).seconds
        before = common + extracting.seconds + training
        cost = RULE_COST if table == RULES else 1
        tuning = [cost_of(tune_stage.RATES, table, size, cost * (n + 1)).seconds for n in range(MOST + 1)]
        turns = next((n for n in range(MOST, 1, -1) if before + tuning[n] <= 60 * minutes), 1)
        return TrainingPlan(table, model, turns, before + tuning[turns])

    if model == RULES:
        inside = plan(RULES, INSIDE)
        return inside if inside.iterations >= FEWEST else plan(RULES, NO_MODEL)
    if model != AUTO:
        return plan(PHRASES, model)
    plans = [plan(PHRASES, name) for name in BEST_FIRST]
    if cost_of(extract_stage.RATES, RULES, size).mib <= MOST_MIB and _moves_far(bitext):
        plans.insert(0, plan(RULES, INSIDE))
    return next((found for found in plans if found.iterations >= FEWEST), plan(PHRASES, NO_MODEL))


def _moves_far(bitext: Bitext) -> bool:
    """Whether many phrase pairs of a sample are far from the one translated before; without links, none are known."""
    if bitext.links is None:
        return False
    sample = bitext.select(np.unique(np.linspace(0, len(bitext) - 1, SAMPLED).astype(int)))
    far = np.abs(extract(sample).distance_before) >= FAR
    return bool(len(far)) and float(far.mean()) >= FAR_SHARE


class Translator(TokenTranslator):
    """A translation system that can be trained, used, saved and asked for explanations.

    Text must have the form used in training: raw if the bitext has languages, otherwise tokens separated by spaces. What
    it takes is in its `repr`.
    """

    @classmethod
    def train(
        cls,
        bitext: Bitext,
        dev: Bitext | None = None,
        *,
        minutes: float = 10,
        model: str = AUTO,
        options: Decoding | None = None,
        text: TextProcessing | None = None,
        seed: int = 1,
        threads: int | None = None,
        progress: Report | None = None,
        quiet: bool = False,
    ) -> Self:
        """Align, extract, train and tune a translation system; `plan_training` chooses what to train in the given time.

        Arguments:
            bitext: training text; it is aligned unless it has links. If it has languages, the translator takes raw text.
            dev: text to tune the weights on; by default, every 20th sentence pair of the bitext, at most 1,000. If the
                bitext has languages, read it with `languages=bitext.text`.
            minutes: processor time to plan for, estimated from the size of the texts.
            model: a reordering model by its name, or `none`, with phrases, or `rules`, instead of what is planned.
            options: options of the search.
            text: processing of raw text, if the bitext was tokenized elsewhere.
            progress: called with the name of a stage, items done and the total; by default, shows bars at a terminal.
        """
        need_bitext(bitext, "Translator.train")
        Option("minutes", float, minimum=0).check(minutes)
        if model not in (AUTO, NO_MODEL, RULES):
            _ = MODELS[model]
        text = text or bitext.text
        if dev is None:
            bitext, dev = _held_out(bitext)
        elif bitext.text != dev.text:
            raise OptionError("dev must be tokenized like the bitext: read it with languages=bitext.text")
        if text is None and (word := raw_word(bitext.source)):
            log.warning("the bitext looks like raw text (%r): read it with languages, for example ('de', 'en')", word)
        if not len(bitext) or not len(dev):
            raise OptionError("there are no sentence pairs to learn from, or none to tune on; give more of them")
        with Bars(quiet or progress is not None) as bars:

            def stage(name: str) -> Progress:
                if progress is None:
                    return bars.stage(name)
                return lambda done, total: progress(name, done, total)

            resources = Resources(n_threads(threads), stages=stage)
            if aligning := bitext.links is None:
                progressing = resources.stage("align").progress
                bitext = bitext.with_links(align(bitext, threads=resources.threads, progress=progressing))
            plan = plan_training(bitext, dev, minutes, model, aligning=aligning)
            log.info("%s; order by %s; %d iterations of tuning; about %.0f s", *plan)
            system = _train_system(bitext, plan, options, seed, resources)
            if text is not None:
                system = system.with_text(text)
            system = _tuned(system, dev, plan.iterations, seed, resources.stage("tune"))
        return cls(system, threads=threads)

    def facts(self) -> dict[str, object]:
        """The parts of its system, and the text that it takes."""
        text = self.system.text
        return {**super().facts(), "takes": ["tokens separated by spaces" if text is None else f"raw text {text.pair}"]}

    @cached_property
    def _raw(self) -> RawTranslator | None:
        return None if self.system.text is None else RawTranslator(self)

    def _best_lines(self, sentences: Iterable[str], progress: Progress | None, annotations: Annotations) -> list[str]:
        if self._raw is None or annotations is not NOTHING:
            return super()._best_lines(sentences, progress, annotations)
        return self._raw.translate(list(sentences))

    def explain(self, sentence: str) -> TranslationPicture:
        """Explain how a sentence is translated: phrases and links, the score of each feature, and the next best order.

        It is shown as text at a prompt and as a drawing in a notebook.
        """
        lines, annotations = [sentence], NOTHING
        if self._raw is not None:
            sentences = self._raw.raw.read(sentence).sentences
            if len(sentences) != 1:
                raise OptionError(f"explain takes one sentence, not {len(sentences)}: ask for each separately")
            lines, annotations = [sentences[0].line], self._raw.raw.annotations(sentences)
        return TranslationPicture(self.translate_batch(lines, NBest(TRACED), annotations=annotations))

    def save(self, path: str | PathLike[str]) -> None:
        """Write everything needed to translate as an artefact, which all commands read as a system."""
        self.system.with_options(self.options).save(path, copy=True)

    @classmethod
    def load(cls, path: str | PathLike[str], *, threads: int | None = None) -> Self:
        """Open a saved translator, or any system."""
        return cls(System.load(path), threads=threads)


def _held_out(bitext: Bitext) -> tuple[Bitext, Bitext]:
    """Split into training pairs and, at even intervals, tuning pairs."""
    n = min(len(bitext) // DEV_SHARE, MOST_DEV)
    dev = np.arange(n) * len(bitext) // max(n, 1)
    return bitext.select(np.setdiff1d(np.arange(len(bitext)), dev)), bitext.select(dev)


def _train_system(bitext: Bitext, plan: TrainingPlan, options: Decoding | None, seed: int, resources: Resources) -> System:
    threads, reordering = resources.threads, dict[str, object]()
    table: PhraseTable | RuleTable
    extracting = resources.stage("extract")
    if plan.table == RULES:
        table = extract_rules(bitext, threads=threads, progress=extracting.progress, scratch=extracting.scratch)
    else:
        extracted = extract_phrases(bitext, resources=extracting)
        kind = ReorderingType.parse(TABLE)
        rows = DistinctRows.of(probability_pieces(extracted.orientations, kind, resources.scratch, threads=threads))
        table, reordering["hier"] = extracted.table, ReorderingTable(kind, rows)
    estimating = resources.stage("language model").progress
    lm = LanguageModel.estimate(bitext.target, discount_fallback=True, threads=threads, progress=estimating)
    if plan.model != NO_MODEL:
        untrained = MODELS[plan.model](seed=seed, threads=threads)
        reordering[untrained.name] = untrained.fit(bitext, progress=resources.stage(f"train {plan.model}").progress)
    return System.of(table, [lm], reordering, options=options)


def _tuned(system: System, dev: Bitext, iterations: int, seed: int, resources: Resources) -> System:
    source, references = (b"".join(side.pieces()).decode().split("\n")[:-1] for side in (dev.source, dev.target))

    def report(_: int, number: int, turn: Iteration) -> None:
        resources.report(number + 1, iterations + 2)  # the initial weights and a mean are tried, too

    alone = Resources(resources.threads)
    runs = TuningRuns(system, Tuning(iterations=iterations), seed=seed, resources=alone, report=report)
    text = DevelopmentText(source, [references])
    return runs.finish(text, runs.on(text))[1]
