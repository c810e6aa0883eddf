"""Bad input of every kind for every command: each case is a command line and the expected message.

    python -m benchmarks.fuzz.bad_inputs                 all cases; a table of failures, and counts
    python -m benchmarks.fuzz.bad_inputs --share 0.2     a sample, chosen by --seed
    python -m benchmarks.fuzz.bad_inputs --list          print the cases

A case passes if the program ends with the expected status (1 for bad data, 2 for a wrong command line), says what is
wrong in one line that matches the pattern, prints nothing to stdout, raises nothing unexpected, and leaves no new file.
Cases run inside this process, one command after the other, in a folder with a small corpus, models and a system.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import gzip
import io
import lzma
import random
import re
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from hyperbaton.base.options import plain_type
from hyperbaton.base.signals import Signals
from hyperbaton.cli import Program, run_program, verbs
from hyperbaton.cli._command import Command, ValueType
from hyperbaton.models import MODELS
from hyperbaton.phrases.rules import GLUE

# Files of the folder in which commands run; see `prepare`.
TEXTS = "c/dev.source c/dev.target"
BITEXT = f"{TEXTS} c/dev.links"


@dataclass(frozen=True)
class Case:
    """One command, the files it needs, and the expected message.

    `expected` is a regular expression that must match in the line on stderr.
    """

    command: str
    status: int
    expected: str
    files: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The outcome of a command."""

    status: Any
    out: str
    err: str
    new_files: list[str]

    def fault(self, case: Case) -> str:
        """The fault of the outcome, empty if there is none."""
        lines = self.err.strip().splitlines()
        if "Traceback" in self.err:
            return f"traceback: {lines[-1]}"
        if self.status != case.status:
            return f"status {self.status}: {lines[-1] if lines else ''}"
        if self.out:
            return f"stdout: {self.out[:60]!r}"
        if case.status == 1 and (len(lines) != 1 or not lines[0].startswith("hyperbaton: error: ")):
            return f"not one line: {self.err!r}"
        if not re.search(case.expected, lines[-1]):
            return f"said: {lines[-1]}"
        return f"left over: {', '.join(self.new_files)}" if self.new_files else ""


# What can be wrong with any text, with what is said about it.
TEXT_FAULTS: dict[str, tuple[bytes, str]] = {
    "utf8": (b"fine\n\xff\xfe\n", r"x:2: not valid UTF-8"),
    "nul": (b"a\x00b\n", r"x:1: control character"),
    "tab": (b"a\tb\n", r"x:1: control character"),
    "crlf": (b"fine\na b\r\n", r"x:2: carriage return"),
    "bom": (b"\xef\xbb\xbfa\n", r"x:1: byte order mark"),
    "moses": (b"a ||| b\n", r"x:1: token contains '\|\|\|'"),
    "long": (b"a " * 60_001 + b"\n", r"x:1: more than 60000 tokens"),
    "gzip": (gzip.compress(b"a b\n" * 9000)[:-9], r"x:\d+: the gzip file is damaged or cut off"),
    "xz": (b"\xfd7zXZ\x00garbage", r"x:1: the xz file is damaged"),
    "xz padding": (lzma.compress(b"a\n") + b"\0\0\0", r"x:2: the xz file is damaged .*3 bytes of padding"),
    "zst": (b"\x28\xb5\x2f\xfdgarbage", r"x:1: the zstd file is damaged"),
    "bz2": (bz2.compress(b"a\n"), r"x: is a bzip2 file: decompress it"),
}
# Where sentences may have 4000 words.
LONG_COMMANDS = (
    "train pair x x y -o new -q",
    "train sequence x x y -o new -q",
    "train block_me x x y -o new -q",
    "extract x x y -o new -q",
    "evaluate pair x x y",
    "preorder pair x -q",
)
LINK_FAULTS: dict[str, tuple[bytes, str]] = {
    "words": (b"one two\n", r"x:1: expected links like 0-0"),
    "negative": (b"0--1\n", r"x:1: expected links like 0-0"),
    "half": (b"0-\n", r"x:1: expected links like 0-0"),
    "huge": (b"99999999999999999999-0\n", r"x:1: "),
    "crlf": (b"0-0\r\n", r"x:1: carriage return"),
    "utf8": (b"0-0 \xff\n", r"x:1: expected links like 0-0"),
}
# Against a bitext of 6 lines.
BITEXT_LINK_FAULTS = {
    **LINK_FAULTS,
    "range": (b"0-9999\n" + b"\n" * 5, r"x:1: link '0-9999' is out of range"),
    "short": (b"0-0\n", r"x:2: the file ends after 1 line;"),
    "more": (b"\n" * 9, r"x:7: more lines than the 6 sentence pairs"),
}
TAG_FAULTS = {
    "short": (b"N\n", r"x:[12]: "),
    "count": (b"N\n" * 6, r"x:1: 1 (tag|label) for"),
}
TREE_FAULTS = {
    "open": (b"(S a\n" + b"\n" * 5, r"x:1: "),
    "words": (b"(S zzz)\n" + b"\n" * 5, r"x:1: "),
    "more": (b"(S a)\n" * 9, r"x:\d+: |has more trees"),
}
# Where a text is read: `x` stands for it.
TEXT_COMMANDS = (
    "align x c/dev.target",
    "align c/dev.source x",
    "extract x c/dev.target c/dev.links -o new",
    "extract c/dev.source x c/dev.links -o new",
    "prune phrases x c/dev.target -o new",
    "train linear x c/dev.target c/dev.links -o new",
    "train pair c/dev.source x c/dev.links -o new",
    "evaluate lr x c/dev.target c/dev.links",
    "inspect x c/dev.target c/dev.links",
    "lm x -o new",
    "perplexity lm x",
    "classes x",
    "clean x c/dev.target -o new",
    "filter c/dev.source x -o new -q",
    "order x c/dev.target c/dev.links",
    "project markup c/dev.source x c/dev.links",
    "tag x --tagger jieba",
    "preorder pair x -q",
    "lexicon x c/dev.target c/dev.links",
)
LINK_COMMANDS = (
    f"extract {TEXTS} x -o new",
    f"train lexicalized {TEXTS} x -o new",
    f"train block_me {TEXTS} x -o new",
    f"evaluate lr {TEXTS} x",
    f"inspect {TEXTS} x --json",
    f"lexicon {TEXTS} x",
    f"project markup {TEXTS} x",
    f"order {TEXTS} x",
)
ARTEFACT_COMMANDS = (
    "translate x c/dev.source",
    "serve de-en=x --port 0",
    "serve de-en=system --aligner x --port 0",
    f"tune x {TEXTS} -o new",
    f"diagnose x {TEXTS}",
    "export moses x new",
    "explain x",
    f"evaluate x {BITEXT}",
    f"align {TEXTS} --model x",
    "lexicon x",
)
MISSING_COMMANDS = (
    *TEXT_COMMANDS,
    *LINK_COMMANDS,
    *ARTEFACT_COMMANDS,
    "symmetrize x c/dev.links",
    "symmetrize c/dev.links x",
    "evaluate-links x c/dev.links",
    "evaluate-links c/dev.links x",
    "evaluate-links c/dev.links c/dev.links --possible x",
    "score x c/dev.target",
    "score c/dev.target x",
    "score c/dev.target c/dev.target --against x",
    "score c/dev.target c/dev.target --systems c/dev.target x",
    "translate system x",
    "translate system c/dev.source --source-tags x",
    "translate system c/dev.source --source-trees x",
    f"tune system {TEXTS} -o new --source-tags x",
    "tune system x c/dev.target -o new",
    "tune system c/dev.source x -o new",
    "diagnose system x c/dev.target",
    "diagnose system c/dev.source x",
    f"train pair {BITEXT} -o new --source-tags x",
    f"train dpr {BITEXT} -o new --source-classes x",
    f"train block_me {BITEXT} -o new --source-trees x",
    "perplexity x c/dev.target",
    "system -o new --phrases x",
    "system -o new --phrases phrases --lm x",
    "system -o new --phrases phrases --reordering R=x",
    "system -o new --moses-ini x",
    "import moses x -o new",
    "lm c/dev.target -o new --vocabulary x",
    f"align {TEXTS} --drop-source x",
    "align x c/dev.target --model aligner",
    f"filter {TEXTS} -o new --scores x",
    "project spans x c/dev.target c/dev.links",
    f"order {BITEXT} --tags x",
    f"order {BITEXT} --dependencies x",
    f"filter {TEXTS} -o new -q --also x",
    f"clean {TEXTS} -o new --also x",
    "tokenize none x",
    "run x -o new",
    "status x",
    "report x",
)
OUTPUT_COMMANDS = (
    f"align {TEXTS} -q -o x/links",
    f"align {TEXTS} -q --scores x/scores -o new",
    f"filter {TEXTS} -q -o x/good",
    f"lexicon {BITEXT} -q -o x/lexicon.tsv",
    f"project markup {BITEXT} -q -o x/marked",
    "symmetrize c/dev.links c/dev.links -q -o x/links",
    f"extract {BITEXT} -q -o x/phrases",
    f"extract {BITEXT} -q --moses x/model",
    "prune phrases c/train.source c/train.target -q -o x/pruned",
    f"train linear {BITEXT} -q -o x/model",
    "lm c/train.target --order 2 --discount-fallback -q -o x/lm",
    "lm c/train.target --order 2 --discount-fallback -q --arpa x/lm.arpa",
    "classes c/dev.target -q -o x/classes",
    "generate -n 20 -q -o x/corpus",
    f"inspect {BITEXT} -q -o x/pair.svg",
    "system --phrases phrases --lm lm -q -o x/system",
    "export moses system x/model -q",
    f"clean {TEXTS} -o x/clean",
    "tag c/dev.source --tagger jieba -q -o x/tags",
    "corpus get OPUS-tatoeba-v20230412-deu-eng -q -o x/corpus",
)
# One row a case: command, status, what is said.
ROWS: tuple[tuple[str, int, str], ...] = (
    ("no-such-verb", 2, "unknown command 'no-such-verb'"),
    ("translat", 2, "unknown command 'translat' .did you mean translate"),
    ("--no-such-option", 2, "unknown option --no-such-option"),
    # names
    (f"train lexicalised {BITEXT} -o new", 1, r"unknown model 'lexicalised' \(did you mean lexicalized\?\)"),
    (f"train linear {BITEXT} -o new --variance 1", 2, "unknown option --variance"),
    (f"train mms {BITEXT} -o new --learner pls", 2, r"unknown learner 'pls' \(did you mean psl\?\)"),
    (f"train mms {BITEXT} -o new --learner psl:passes=1", 2, r"unknown option 'passes' \(did you mean max-passes\?\)"),
    (f"train pair {BITEXT} -o new --learner adagrad:step=inf", 2, "step must be a finite number, not inf"),
    (f"train linear {BITEXT} -o new --orientations six", 1, "six"),
    (f"train linear {BITEXT} -o new --orientations 3,1", 1, "cut points must increase, not 3, 1"),
    (f"train dpr {BITEXT} -o new --features none-such", 2, "unknown features? .*'none_such'"),
    (f"train dpr {BITEXT} -o new --scope here", 2, "--scope must be one of clusters, global, not 'here'"),
    (f"train mms {BITEXT} -o new --learner psl:delta=odd", 1, "odd"),
    (f"train linear {BITEXT} -o new --source-tags c/dev.source.tags", 1, "does not use --source-tags"),
    (f"train block_me {BITEXT} -o new --families words", 1, "words"),
    (f"train block_me {BITEXT} -o new --tree-rules nowhere", 1, "nowhere"),
    (f"align {TEXTS} --aligner giza", 1, "unknown aligner 'giza'"),
    (f"align {TEXTS} --symmetrization both", 2, "--symmetrization must be one of"),
    (f"align {TEXTS} --aligner eflomal --save-model new", 1, "the aligner eflomal can neither load nor save models"),
    (f"align {TEXTS} --aligner eflomal --scores new", 1, "the aligner eflomal does not score links"),
    (f"align {TEXTS} --format xml", 2, "--format must be one of pharaoh, json, giza, not 'xml'"),
    (f"align {TEXTS} --model aligner --save-model new", 1, "a saved model is not trained, so there is nothing to save"),
    (f"align {TEXTS} --aligner eflomal --prior aligner", 2, "unknown option --prior"),
    (f"align {TEXTS} --aligner hmm:iterations=3", 1, r"unknown option 'iterations' \(did you mean hmm-iterations\?\)"),
    (f"align {TEXTS} --aligner hmm:freedom=1 --freedom 0.5", 1, "set the same option; leave out one of them"),
    (f"align {TEXTS} --scores new -o new", 1, "--output and --scores would both write to new"),
    (f"align {TEXTS} --save-model new -o new", 1, "--save-model and --output would both write to new"),
    (f"align {TEXTS} -o c/dev.source", 1, "--output would write to c/dev.source, which is also an input"),
    ("align c/dev.source", 1, "give SRC and TGT to learn from, or --model to link lines of sentence pairs"),
    ("align c/dev.source --model aligner", 1, r"c/dev.source:1: expected a source and a target sentence"),
    ("align c/dev.source c/test.target --model aligner", 1, r"c/test.target:5: the file ends after 4 lines"),
    (f"filter {TEXTS} --scores c/dev.links -o new", 1, r"c/dev.links:1: expected two log-probabilities"),
    (f"filter {TEXTS} --scores empty -o new", 1, r"empty:1: 0 lines of scores for 6 sentence pairs"),
    (f"filter {TEXTS} -o new -q --keep 1.5", 2, "--keep must be at most 1, not 1.5"),
    (f"filter {TEXTS} -o new -q --also c/test.links", 1, r"c/test.links:\d+: "),
    ("filter c/dev.source c/test.target -o new -q", 1, r"c/test.target:5: the file ends after 4 lines"),
    (f"lexicon {TEXTS}", 1, "give SRC TGT LINKS, or the folder of an aligner or of phrases"),
    (f"lexicon {BITEXT} --format xml", 2, "--format must be one of tsv, bicleaner, tbx, not 'xml'"),
    (f"lexicon {BITEXT} --format bicleaner", 1, "the format bicleaner is two files: give -o PREFIX"),
    (f"lexicon {BITEXT} --min-probability 2", 2, "--min-probability must be at most 1"),
    ("lexicon phrases --format bicleaner -o new", 1, "the format bicleaner is for single words, not for phrases"),
    ("lexicon phrases --null", 1, "--null: phrases have no empty word"),
    ("lexicon aligner --min-count 2", 1, "an aligner stores no counts; give SRC TGT LINKS"),
    ("lexicon aligner --lowercase", 1, "--lowercase is for SRC TGT LINKS"),
    ("lexicon lm", 1, "lm: is an lm artefact, not an aligner or phrases"),
    (f"lexicon {BITEXT} -o c/dev.links", 1, "--output would write to c/dev.links, which is also an input"),
    (f"project words {BITEXT}", 2, "KIND must be one of tags, spans, markup, not 'words'"),
    (f"project markup {BITEXT} --split some", 2, "--split must be one of largest, cover, repeat, not 'some'"),
    (f"project tags {BITEXT} --column 0", 2, "--column must be at least 1, not 0"),
    (f"project tags {BITEXT} --unlinked 'a\tb'", 1, r"--unlinked must be a tag without tabs, line ends or control"),
    (f"project tags {BITEXT}", 1, r"c/dev.source: 1 annotated sentence, but c/dev.target has 6 lines"),
    (f"project spans {BITEXT}", 1, r"c/dev.source:1: expected a JSON object"),
    ("project markup c/dev.source c/test.target c/dev.links", 1, r"6 annotated sentences, but c/test.target has 4"),
    (f"project markup {BITEXT} --report new -o new", 1, "--output and --report would both write to new"),
    (f"order {BITEXT} --limits far", 1, "--limits expects comma-separated numbers of words, not 'far'"),
    (f"order {BITEXT} --limits -3", 1, "--limits expects comma-separated numbers of words"),
    (f"order {BITEXT} --per-line --tags c/dev.source.tags", 1, "--per-line prints the measures of each pair and nothing"),
    (f"order {BITEXT} --tags c/test.source.tags", 1, r"c/test.source.tags:5: 4 lines of labels"),
    (f"order {BITEXT} --dependencies c/dev.source", 1, r"c/dev.source:1: "),
    (f"order {BITEXT} --against {TEXTS} c/test.links", 1, r"c/test.links:\d+: "),
    (f"order {BITEXT} -o new.gif", 1, "new.gif: the name of a picture must end in"),
    ("order empty empty empty", 1, "no sentence pairs to measure"),
    (
        f"train pair {BITEXT} -o new -q --memory 64M",
        1,
        r"--memory 64M: training pair with [0-9,]+ weights needs at least 1",
    ),
    ("symmetrize c/dev.links c/dev.links -m both", 2, "--method must be one of .*, not 'both'"),
    ("symmetrize c/dev.links c/dev.links --format xml", 2, "--format must be one of pharaoh, giza, not 'xml'"),
    ("symmetrize c/dev.links c/dev.links -o c/dev.links", 1, "--output would write to c/dev.links, which is also an input"),
    ("symmetrize c/dev.links c/test.links", 1, r"c/test.links:\d+: has \d+ lines, but c/dev.links has"),
    ("evaluate-links c/dev.links c/test.links", 1, r"c/test.links:\d+: has \d+ lines, but c/dev.links has"),
    (
        "evaluate-links c/dev.links c/dev.links --possible c/test.links",
        1,
        r"c/test.links:\d+: has \d+ lines, but c/dev.links has",
    ),
    (f"clean {TEXTS} -o ''", 1, r"--output '': is not the name of a file"),
    (f"filter {TEXTS} -q -o ''", 1, r"--output '': is not the name of a file"),
    (f"extract {BITEXT} -q -o ''", 1, "--output '': is not the name of a file"),
    (f"lexicon {BITEXT} -q --format bicleaner -o ''", 1, "--output '': is not the name of a file"),
    ("run /dev/zero -o new", 1, "/dev/zero: an experiment file has at most 16 MiB"),
    (f"train dpr {BITEXT} -o new --source-classes empty", 1, "empty: the file has no word classes"),
    (
        "system -o new --phrases phrases --lm lm --source-text en:casing=truecase:learn=empty --target-text en",
        1,
        "empty: there are no words to learn the casing from",
    ),
    ("tokenize missing c/dev.source", 1, "unknown tokenizer 'missing'"),
    ("tokenize none c/dev.source --tags new", 1, "the tokenizer none does not produce tags"),
    ("tag c/dev.source --tagger missing", 1, "unknown tagger 'missing'; known: fugashi, jieba, spacy, stanza, udpipe"),
    ("tag c/dev.source --tagger jieba:model=x -o new", 1, "unknown option 'model'"),
    ("tag c/dev.source --tagger jieba:model -o new", 1, "options are written option=value, not 'model'"),
    ("tag c/dev.source --tagger udpipe -o new", 1, "udpipe needs the file of a model|ufal.udpipe is not installed"),
    ("tag c/dev.source --tagger udpipe:model=c/dev.source -o new", 1, "is not a model of UDPipe 1|is not installed"),
    ("tag c/dev.source -o new", 2, "missing option --tagger"),
    ("tag c/dev.source --tagger jieba -o c/dev.source", 1, "--output would write to c/dev.source, which is also an input"),
    ("corpus fetch a -o new", 2, "must be one of get, list, not 'fetch'"),
    ("corpus get a", 1, "'corpus get' needs --output, the folder to write to"),
    ("corpus get a a -o new", 1, "the dataset a is named twice; name it once"),
    ("corpus get a -o c", 1, "c: the folder contains files that are not an artefact; choose another name"),
    ("corpus get a -o new --aligner missing", 1, "unknown aligner 'missing'"),
    ("corpus get a -o new --tagger missing", 1, "unknown tagger 'missing'"),
    ("corpus get a -o new --tokenizer-target missing", 1, "unknown tokenizer 'missing'"),
    ("corpus list de-en a b", 1, "'corpus list' takes two languages such as de-en and at most one word"),
    ("score c/dev.target c/dev.target --metrics blue", 1, "unknown metric 'blue'"),
    ("score c/dev.target c/dev.target --systems c/dev.target --against c/dev.target", 1, "do not give --against"),
    ("score c/dev.target c/dev.target --metrics bleu:tokenize=x", 1, "tokenize must be one of"),
    ("score c/dev.target c/dev.target --metrics bleu:max-order=99", 1, "max-order must be at most 9, not 99"),
    ("score c/dev.target c/dev.target --metrics bleu:order", 1, "options are written option=value"),
    ("score c/dev.target c/dev.target --metrics bleu:no=1", 1, "unknown option 'no'"),
    ("score c/dev.target c/dev.target --metrics chrf:beta=99999999999999", 1, "beta must be at most 2147483647"),
    ("score c/dev.target c/dev.target --test t", 2, "--test must be one of bootstrap, randomization, not 't'"),
    ("score c/dev.target c/test.target", 1, r"c/test.target:\d+: "),
    (
        "score c/dev.target c/dev.target --source-links c/dev.links --source-links c/dev.links",
        1,
        "--source-links is given 2",
    ),
    ("score c/dev.target c/dev.target --metrics kendall", 1, "links"),
    (f"tune system {TEXTS} -o new --metric blue", 2, "unknown metric 'blue'"),
    (f"tune system {TEXTS} -o new --optimizer best", 2, "unknown optimizer 'best'"),
    (f"tune system {TEXTS} -o new --optimizer mert:restarts=-1", 2, "restarts must be at least 0, not -1"),
    ("tune system c/dev.source c/test.target -o new", 1, r"c/test.target:\d+: has \d+ lines, but c/dev.source has"),
    ("tune system empty empty -o new", 1, "empty: the file has no lines"),
    ("diagnose system c/dev.source c/test.target", 1, r"c/test.target:\d+: has \d+ lines, but c/dev.source has"),
    ("import giza model -o new", 1, "unknown format 'giza'"),
    ("export giza system new", 1, "unknown format 'giza'"),
    ("import moses c/dev.source -o new", 1, r"c/dev.source"),
    ("generate -o new --style klingon", 2, "--style must be one of chinese, japanese, not 'klingon'"),
    ("generate -o new -n 5 --dev 9", 1, "cannot take 9 dev"),
    ("translate system c/dev.source --raw", 1, "the system has no processing of raw text"),
    ("translate system c/dev.source --raw --nbest 5", 1, "--raw writes only translations"),
    ("translate system c/dev.source --html", 1, "--html needs --raw"),
    ("translate system c/dev.source --raw --html --unbuffered", 1, "leave out --unbuffered"),
    ("system -o new --phrases phrases --source-text english", 1, "--source-text english: a language is a code like en"),
    (
        "system -o new --phrases phrases --source-text en:casing=truecase",
        1,
        "truecasing is learned from text: add :learn=FILE",
    ),
    ("serve --port 0", 1, "nothing to serve: name a system or an aligner"),
    ("serve system --port 0", 1, "system: the system does not name its languages; put them before it"),
    ("serve de=system --port 0", 1, "expected a pair of languages like ja-en, found 'de'"),
    ("serve de-en=system --port 0 --host nowhere.invalid", 1, "cannot listen at nowhere.invalid:0: "),
    ("serve de-en=block-system --port 0", 1, "the reordering model B needs "),
    ("translate system c/dev.source -o system/manifest.json", 1, "--output would write into system, which is an input"),
    ("translate system c/dev.source -o phrases/new", 1, "--output would write into .*/phrases, which is an input"),
    ("translate system c/dev.source --search best", 2, "--search must be one of stack, cube, refine, not 'best'"),
    ("translate system c/dev.source --weight LM0", 1, "--weight expects NAME=VALUE, not 'LM0'"),
    ("translate system c/dev.source --weight LM0=x", 1, "LM0 must be a number, not 'x'"),
    ("translate system c/dev.source --weight LM0=nan", 1, "LM0"),
    ("translate system c/dev.source --weight LM0=1,2", 1, "LM0"),
    ("translate system c/dev.source --weight Ghost=1", 1, "'Ghost'"),
    ("translate system c/dev.source --source-tags c/test.source.tags", 1, r"c/test.source.tags:\d+: "),
    ("system -o new", 1, "nothing to assemble: give --phrases, --rules, --moses-ini or --from"),
    ("system -o new --from nowhere", 1, "nowhere"),
    ("system -o new --from system --phrases phrases", 1, "--from names the tables and language models"),
    ("system -o new --phrases phrases --moses-ini x.ini", 1, "--moses-ini names the tables and language models"),
    ("translate system c/dev.source --max-span 3", 1, "--max-span: not an option of a system with phrases"),
    ("translate hiero c/dev.source --distortion-limit 3", 1, "--distortion-limit: not an option of a system with rules"),
    ("inspect c/dev.source", 1, "a sentence pair needs SRC, TGT and LINKS; a translation needs SRC and --system"),
    ("inspect c/dev.source --system hiero --line 99", 1, "--line 99: c/dev.source has 6 lines"),
    ("inspect c/dev.source --system hiero -o new.txt", 1, "new.txt: the name of a picture must end in "),
    ("system -o new --phrases phrases --rules rules", 1, "a system has --phrases or --rules, not both"),
    ("system -o new --phrases rules", 1, "rules: is a rules artefact, not"),
    ("system -o new --rules phrases", 1, "phrases: is a phrases artefact, not"),
    ("system -o new --rules rules --reordering R=lr", 1, "R=lr: a system with rules can use jump models"),
    ("system -o new --rules rules --distortion-limit 3", 1, "--distortion-limit: not an option of a system with rules"),
    ("system -o new --phrases phrases --reordering R", 1, "--reordering expects NAME=VALUE, not 'R'"),
    ("system -o new --phrases phrases --reordering R=wbe-xyz-fe", 1, "wbe-xyz-fe"),
    ("system -o new --phrases phrases --inside R", 1, "no reordering model 'R'"),
    ("system -o new --phrases phrases --scaled R=0.5", 1, "no reordering model 'R'"),
    ("system -o new --phrases phrases --weights-per-class R", 1, "no reordering model 'R'"),
    ("system -o new --phrases lm", 1, "lm: is an? .* artefact, not"),
    ("system -o new --phrases phrases --lm phrases", 1, "phrases: is a .* artefact, not"),
    ("system -o new --phrases empty", 1, "empty: contains no phrase pairs"),
    ("explain lr --phrase a --sentence b", 1, "give --phrase or --sentence, not both"),
    ("explain lr --sentence 'a b' --span x", 1, "expected a span like 2-4, found 'x'"),
    ("explain lr --sentence 'a b' --span 1-9", 1, "is out of range for the 2 words"),
    ("explain lr --phrase ''", 1, "the phrase is empty"),
    ("explain pair --phrase a", 1, "give --sentence"),
    ("explain pair --sentence 'a b' --links 0-x", 1, "expected links like 0-1 1-0"),
    ("explain pair --sentence 'a b' --links 9-0", 1, "a link is out of range for the 2 words"),
    ("explain pair --sentence 'a b' -o new.gif", 1, "new.gif: the name of a picture must end in"),
    ("explain system", 1, "system: is a .* artefact"),
    (f"evaluate {BITEXT}", 1, "give at least one model"),
    (f"evaluate lm {BITEXT}", 1, "lm: is an? .* artefact"),
    (f"inspect {BITEXT} --line 999", 1, "--line 999: c/dev.source has 6 lines"),
    (f"inspect {BITEXT} --line 0", 2, "--line must be at least 1, not 0"),
    (f"inspect {BITEXT} --sample 3", 1, "--sample writes a page: give -o PAGE.html"),
    (f"inspect {BITEXT} --sample 3 -o new.svg", 1, "--sample writes a page: give -o PAGE.html"),
    (f"inspect {BITEXT} --sample 0 -o new.html", 2, "--sample must be at least 1, not 0"),
    (f"inspect {BITEXT} --worst", 1, "are for a page of pairs: give --sample N"),
    (f"inspect {BITEXT} --sample 3 -o new.html --scores c/dev.links", 1, r"c/dev.links:1: expected two log-prob"),
    (f"inspect {BITEXT} --sample 3 -o new.html --scores empty", 1, r"empty:1: 0 lines of scores for 6 sentence pairs"),
    (f"inspect {BITEXT} --sample 3 -o new.html --model lm", 1, "lm: is an? .* artefact, not"),
    ("inspect empty empty empty --sample 3 -o new.html", 1, "empty: no sentence pairs to show"),
    (f"inspect {BITEXT} -o new.gif", 1, "new.gif: the name of a picture must end in"),
    (f"extract {BITEXT}", 1, "no output: give -o PHRASES"),
    (f"extract {BITEXT} more -o new", 1, "unexpected argument 'more'"),
    (f"extract {BITEXT} -o new --reordering wbe-msd-fe", 1, "--reordering needs --moses"),
    (f"extract {BITEXT} --moses new --reordering abc", 1, "abc"),
    (f"extract {BITEXT} -o new --smoothing nice", 1, "nice"),
    (f"extract {BITEXT} -o new --max-span 5", 1, "--max-span is an option of rules: it needs --hierarchical"),
    (f"extract {BITEXT} -o new --for c/dev.source", 1, "--for is an option of rules: it needs --hierarchical"),
    (f"extract {BITEXT} -o new --hierarchical --max-length 5", 1, "--max-length is an option of phrase pairs"),
    (f"extract {BITEXT} -o new --hierarchical --smoothing kneser-ney", 1, "--smoothing is an option of phrase pairs"),
    (f"extract {BITEXT} -o new --hierarchical --max-gaps 3", 2, "max-gaps must be at most 2, not 3"),
    (f"extract {BITEXT} -o new --hierarchical --for nowhere", 1, "nowhere: no such file"),
    (f"extract {BITEXT} -o new --memory much", 2, "must be an amount like 512M, 4G or 2.5GiB, not 'much'"),
    (f"prune phrases {TEXTS} -o new", 1, "c/dev.source:7: has 6 lines, but phrases was extracted from"),
    (f"prune lm {TEXTS} -o new", 1, "lm: is an? .* artefact, not"),
    (f"prune phrases {TEXTS} -o new --significance x", 1, "significance must be a.e, a-e, none or a number"),
    ("lm c/dev.target -o new --memory 4", 2, "must be an amount like 512M, 4G or 2.5GiB, not '4'"),
    ("lm c/dev.target", 1, "no output: give -o LM"),
    ("lm c/dev.target --arpa c/dev.target", 1, "--arpa would write to c/dev.target, which is also an input"),
    ("lm c/dev.target -o new.arpa --arpa new", 1, "-o new.arpa and --arpa new are both ARPA files; give one of them"),
    ("lm c/dev.target -o -", 1, "--output -: is a folder, which cannot go to standard output"),
    ("lm c/dev.target -o new --prune x", 1, "prune must be at most"),
    ("lm c/dev.target -o new --prune 1", 1, "prune must be at most"),
    ("lm c/dev.target -o new --prune '0 99999999999999999999'", 1, "prune must be at most"),
    ("lm lm -o new --order 2", 1, "lm is already a model"),
    ("lm c/dev.target -o new --from-arpa", 1, r"c/dev.target:1: "),
    ("lm empty -o new", 1, "empty: no sentences to estimate a language model from"),
    ("perplexity lm empty", 1, "empty: the perplexity of an empty text is not defined"),
    ("perplexity phrases c/dev.target", 1, "phrases: is a .* artefact, not"),
    (f"clean {TEXTS} -o new --tokenizer-source missing", 1, "unknown tokenizer 'missing'"),
    (f"clean {TEXTS} -o new --compress rar", 2, "rar"),
    ("clean c/dev.source c/test.target -o new", 1, r"c/(dev.source|test.target):\d+: "),
    ("train linear empty empty empty -o new", 1, "empty: nothing to learn from"),
    ("train pair empty empty empty -o new", 1, "empty: nothing to learn from"),
    ("evaluate lr empty empty empty", 1, "empty: nothing to classify"),
    ("status c", 1, "c: "),
    ("report c", 1, "c"),
    ("demo -o new --set nothing", 1, "--set expects KEY=VALUE"),
    ("demo -o new --set corpus.generate.style=klingon", 1, "klingon"),
)
_CHART = b"PhraseDictionaryMemory path=rules\nPhraseDictionaryMemory path=glue\n"
# What a moses.ini says; the message names it, and the line where there is one.
MOSES: tuple[bytes, ...] = (
    b"",
    b"\xff\n",
    b"feature\n",
    b"[feature]\n",
    b"[feature]\nKENLM name=LM0 path=x/moses.ini\n",
    b"[feature]\nPhraseDictionaryMemory\n",
    b"[feature]\nPhraseDictionaryMemory path=\n",
    b"[feature]\nPhraseDictionaryMemory path=nowhere\n",
    b"[feature]\nPhraseDictionaryMemory path=a path=b\nPhraseDictionaryMemory path=b\n",
    b"[feature]\nPhraseDictionaryMemory num-features=x path=table\n",
    b"[feature]\nPhraseDictionaryMemory num-features=9 path=table\n",
    b"[feature]\nPhraseDictionaryMemory path=table table-limit=x\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[weight]\nLM0\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[weight]\nLM0= x\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[stack]\n-3\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[stack]\n99999999999999999999\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[stack]\nmany\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[s]\nmany\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[w]\n-1\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[q]\n1\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[distortion-limit]\nfar\n",
    b"[feature]\nPhraseDictionaryMemory path=table\n[beam-threshold]\nnan\n",
    b"[search-algorithm]\n3\n[feature]\nPhraseDictionaryMemory path=rules\n",
    b"[search-algorithm]\n3\n[non-terminals]\nNP\n[feature]\nPhraseDictionaryMemory path=rules\n",
    b"[search-algorithm]\n3\n[feature]\nPhraseDictionaryMemory path=rules\nPhraseDictionaryMemory path=glue\n",
    b"[search-algorithm]\n3\n[max-chart-span]\n20\nx\n[feature]\n" + _CHART,
    b"[search-algorithm]\n3\n[max-chart-span]\n20\n1000\n[feature]\nDistortion\n" + _CHART,
    b"[search-algorithm]\n3\n[max-chart-span]\n20\n1000\n[feature]\n" + _CHART.replace(b"path=glue", b"path=nowhere"),
    b"[search-algorithm]\n3\n[max-chart-span]\n20\n1000\n[feature]\n" + _CHART + b"[weight]\nTranslationModel1= 1 2\n",
)
# Files that a moses.ini of the chart decoder names: rules and glue in place of each other, and of phrases.
CHART_FILES: tuple[tuple[bytes, str], ...] = (
    (_CHART.replace(b"path=rules", b"path=table"), r"x/table:1: expected the label \[X\] at the end of the source side"),
    (_CHART.replace(b"path=rules", b"path=glue"), "x/glue:1: a rule table has 4 scores in a row, found 1"),
    (_CHART.replace(b"path=glue", b"path=rules"), "x/rules:1: not a rule of the standard glue grammar"),
    (
        _CHART.replace(b"path=glue", b"path=empty"),
        "x/empty(:0)?: expected the 3 rules of the standard glue grammar, found 0",
    ),
)
# What a table of Moses says.
TABLES: tuple[tuple[bytes, str], ...] = (
    (b"", "x: contains no phrase pairs"),
    (b"a\n", "x:1: "),
    (b"a ||| b\n", "x:1: "),
    (b"a ||| b ||| x\n", "x:1: "),
    (b"a ||| b ||| 1 1 1 1 ||| 0-9\n", "x:1: "),
    (b"a ||| b ||| 1 1 1 1 ||| zero\n", "x:1: "),
    (b"a ||| b ||| 1 1 1 1\na ||| b ||| 1 1 1 1\n", "x:2: the phrase pair is already in an earlier line"),
    (b"a ||| b ||| 1 1 1 1\nc ||| d ||| 1\n", "x:2: "),
    (b"a ||| \xff ||| 1 1 1 1\n", "x:1: not valid UTF-8"),
    (b"a [X] ||| b [X] ||| 1 1 1 1 ||| 0-0\n", "x:1: expected a phrase table, found a rule table"),
)
# What a rule table of Moses says.
RULES: tuple[tuple[bytes, str], ...] = (
    (b"", "x: contains no rules"),
    (b"a ||| b ||| 1 1 1 1 ||| 0-0\n", r"x:1: expected the label \[X\] at the end of the source side, found 'a'"),
    (b"a [X] ||| b ||| 1 1 1 1 ||| 0-0\n", r"x:1: expected the label \[X\] at the end of the target side, found 'b'"),
    (b"a [X] ||| b [X] ||| 1 1 ||| 0-0\n", "x:1: a rule table has 4 scores in a row, found 2"),
    (b"[X] ||| b [X] ||| 1 1 1 1 |||\n", "x:1: the source side is empty"),
    (b"a [X][X] [X] ||| b [X] ||| 1 1 1 1 ||| 0-0\n", "x:1: the sides of a rule must have the same number of gaps"),
    (b"a [X][X] [X] ||| [X][X] b [X] ||| 1 1 1 1 ||| 0-1\n", "x:1: each gap must be linked to one gap of the other side"),
    (b"a [X][X] [X] ||| [X][X] b [X] ||| 1 1 1 1 ||| 1-1\n", "x:1: a link joins a gap and a word"),
    (b"a [X] ||| b [X] ||| 1 1 1 1 ||| 1-1\n", "x:1: a link goes to the label of a side"),
    (
        b"[X][X] [X][X] a [X][X] [X] ||| [X][X] [X][X] b [X][X] [X] ||| 1 1 1 1 ||| 0-0 1-1 2-2 3-3\n",
        "x:1: a rule has at most two gaps, found a third",
    ),
    (b"a [NP][NP] [X] ||| [NP][NP] b [X] ||| 1 1 1 1 ||| 0-1 1-0\n", r"x:1: unknown label '\[NP\]\[NP\]'"),
    (b"a [X] ||| b [X] ||| 1 1 1 1 ||| 0-0\nc [NP] ||| d [NP] ||| 1 1 1 1 ||| 0-0\n", "x:2: expected the label "),
    (
        b"a [X] ||| b [X] ||| 1 1 1 1 |||\na [X] ||| b [X] ||| 1 1 1 1 |||\n",
        "x:2: the rule is already in an earlier line",
    ),
)
ARPA: tuple[tuple[bytes, str], ...] = (
    (b"", "x.arpa:1: "),
    (b"\\data\\\n", "x.arpa:"),
    (b"\\data\\\nngram 1=x\n", "x.arpa:2: "),
    (b"\\data\\\nngram 1=99999999999999999999\n", "x.arpa:2: "),
    (b"\\data\\\nngram 1=1\n\n\\1-grams:\nx a\n\n\\end\\\n", "x.arpa:5: "),
    (b"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\ta\n\n\\end\\\n", "x.arpa:"),
)
# What an experiment file says, and what is said about it.
EXPERIMENTS: tuple[tuple[bytes, str], ...] = (
    (b"", "x.toml: key 'corpus.train': missing"),
    (b"\xff", "x.toml: not a TOML file"),
    (b"a = [", "x.toml: not a TOML file"),
    (b"a = " + b"[" * 5000, "x.toml: (not a TOML file|tables or lists are nested too deeply)"),
    (b"a = " + b"[" * 5000 + b"]" * 5000, "x.toml: tables or lists are nested too deeply"),
    (b"seed = " + b"9" * 5000, "x.toml: not a TOML file"),
    (b"seed = 99999999999999", "x.toml: key 'seed': must be at most 2147483647"),
    (b"seed = -1", "x.toml: key 'seed': must be at least 0, not -1"),
    (b"seed = 'x'", "x.toml: key 'seed': must be a whole number, not 'x'"),
    (b"title = 1", "x.toml: key 'title': must be text, not 1"),
    (b"corpus = 1", "x.toml: key 'corpus': must be a table, not 1"),
    (b"[corpus]\ngenerate = 1", "x.toml: key 'corpus.generate': must be a table, not 1"),
    (b"[corpus.generate]\nsentences = 0x" + b"f" * 5000, "key 'corpus.generate.sentences': must be at most 2147483647"),
    (b"[corpus.generate]\nsentences = 40\ndev = 30\ntest = 30", "must be greater than dev and test"),
    (b"[corpus.generate]\nnoise = inf", "key 'corpus.generate.noise': must be a finite number, not inf"),
    (b"[corpus.generate]\nnoise = nan", "key 'corpus.generate.noise': must be a finite number, not nan"),
    (b"[corpus.generate]\nodd = 1", "key 'corpus.generate.odd': unknown"),
    (b"[corpus.train]\nsource = 'none'\ntarget = 'none'", "key 'corpus.train.source': there is no file"),
    (b"[corpus]\nroot = '${NO_SUCH_VARIABLE}'", "the environment variable NO_SUCH_VARIABLE is not set"),
    (b"odd = 1\n[corpus.generate]\n[models.linear]", "key 'odd': unknown"),
    (b"[corpus.generate]\n[models.linear]\n[lm]\norder = 99", r"key 'lm.order': must be at most \d+, not 99"),
    (b"memory = 'much'\n[corpus.generate]", "key 'memory': it must be an amount like 512M, 4G or 2.5GiB, not 'much'"),
    (b"[corpus.generate]\n[corpus.clean]\nratio = inf", "key 'corpus.clean.ratio': must be a finite number, not inf"),
    (b"[corpus.generate]\n[models.linear]\n[lm]\nprune = 'x'", "key 'lm': prune must be"),
    (b"[corpus.generate]\n[align]\naligner = 'giza'", "key 'align.aligner': unknown value 'giza'"),
    (b"[corpus.generate]\n[align]\nmodel1-iterations = 99999999999", "key 'align.model1-iterations': must be at most"),
    (b"[corpus.generate]\n[models.a]\nmodel = 'odd'", "key 'models.a.model': unknown value 'odd'"),
    (b"[corpus.generate]\n[models.dpr]\nkappa = -1", "key 'models.dpr.kappa': must be at least 0, not -1"),
    (b"[corpus.generate]\n[models.dpr]\nscaled = nan", "key 'models.dpr.scaled': must be a finite number, not nan"),
    (
        b"[corpus.generate]\n[models.linear]\n[translation]\nlimits = [99999999999]",
        "key 'translation.limits': a limit is a number of words",
    ),
    (b"[corpus.generate]\n[models.linear]\n[translation]\nlimits = []", "key 'translation.limits': must be a list"),
    (
        b"[corpus.generate]\n[models.linear]\n[translation]\nmetrics = ['blue']",
        "key 'translation.metrics': unknown value 'blue'",
    ),
    (
        b"[corpus.generate]\n[models.linear]\n[translation]\nbaselines = ['x']",
        "key 'translation.baselines': unknown value 'x'",
    ),
    (
        b"[corpus.generate]\n[models.linear]\n[translation.decoding]\nstack = -3",
        "key 'translation.decoding.stack': must be at least 0",
    ),
    (
        b"[corpus.generate]\n[models.linear]\n[translation.tuning]\noptimizer = 'x'",
        "key 'translation.tuning.optimizer': x: unknown optimizer 'x'",
    ),
)


def cases() -> list[Case]:
    """All cases."""
    cases = [Case(*row) for row in ROWS]
    for commands, faults in ((TEXT_COMMANDS, TEXT_FAULTS), (LINK_COMMANDS, BITEXT_LINK_FAULTS)):
        cases += [Case(c, 1, expected, {"x": content}) for c in commands for content, expected in faults.values()]
    for command in (
        "translate system x",
        "score x c/dev.target",
        "tune system x c/dev.target -q -o new",
        "diagnose system x x",
    ):
        for name in ("utf8", "xz", "zst", "bz2", "long"):
            content, expected = TEXT_FAULTS[name]
            cases.append(Case(command, 1, expected, {"x": content}))
    long = {"x": b"a\n" + b"a " * 60_000 + b"\n", "y": b"0-0\n0-0\n"}
    cases += [Case(command, 1, r"x:2: a sentence of more than 4000 words", long) for command in LONG_COMMANDS]
    expected = r"x:2: a sentence of more than 250 words cannot be forced to its reference"
    cases.append(Case("diagnose system x x -q", 1, expected, {"x": long["x"]}))
    cases.append(Case("order x x x", 1, "nothing to measure: no sentence pair has links", {"x": b"\n\n"}))
    for command in ("symmetrize x c/dev.links", "evaluate-links c/dev.links x"):
        cases += [Case(command, 1, expected, {"x": content}) for content, expected in LINK_FAULTS.values()]
    for command in ("translate tagged c/dev.source --source-tags x", f"tune tagged {TEXTS} -q -o new --source-tags x"):
        cases += [Case(command, 1, expected, {"x": content}) for content, expected in TAG_FAULTS.values()]
    for command in ("translate block-system c/dev.source --source-trees x --source-tags c/dev.source.tags",):
        cases += [Case(command, 1, expected, {"x": content}) for content, expected in TREE_FAULTS.values()]
    cases += [Case(command, 1, r"\bx\b") for command in MISSING_COMMANDS]
    for command in ARTEFACT_COMMANDS:
        cases.append(Case(command, 1, r"\bx: not an artefact of hyperbaton", {"x": b"no folder\n"}))
        cases.append(Case(command, 1, r"\bx: not an artefact of hyperbaton", {"x/file": b"something\n"}))
        cases.append(Case(command, 1, r"\bx/manifest.json: damaged", {"x/manifest.json": b"{"}))
        cases.append(Case(command, 1, r"\bx/manifest.json: damaged", {"x/manifest.json": b"[" * 9000}))
        cases.append(Case(command, 1, r"\bx/manifest.json: cannot be read", {"x/manifest.json/file": b"a folder\n"}))
    cases += [Case(command, 1, r"\bx\b", {"x": b"a file\n"}) for command in OUTPUT_COMMANDS]
    tables = {
        "x/table": b"a ||| b ||| 1 1 1 1 ||| 0-0 ||| 1 1 1\n",
        "x/rules": b"a [X] ||| b [X] ||| 1 1 1 1 ||| 0-0 ||| 1 1 1 ||| |||\n",
        "x/glue": "".join(f"{line}\n" for line in GLUE).encode(),
        "x/empty": b"",
    }
    for content in MOSES:
        files = {"x/moses.ini": content, **tables}
        cases.append(Case("import moses x -o new", 1, r"x/moses.ini(:\d+)?: ", files))
    chart = b"[search-algorithm]\n3\n[max-chart-span]\n20\n1000\n[feature]\n"
    for content, expected in CHART_FILES:
        cases.append(Case("import moses x -o new", 1, expected, {"x/moses.ini": chart + content, **tables}))
    cases += [Case("system -o new --phrases x", 1, expected, {"x": content}) for content, expected in TABLES]
    cases += [Case("system -o new --rules x", 1, expected, {"x": content}) for content, expected in RULES]
    for command in ("lm x.arpa -o new", "perplexity x.arpa c/dev.target", "system -o new --phrases phrases --lm x.arpa"):
        cases += [Case(command, 1, expected, {"x.arpa": content}) for content, expected in ARPA]
    for content in (b"", b"{", b"[]", b"{}", b"[" * 9000, b"\xff"):
        cases.append(Case("report x", 1, r"\bx/results.json\b", {"x/results.json": content}))
        cases.append(Case("status x", 1, r"\bx/plan.json: ", {"x/plan.json": content}))
    for content, expected in ((b"[1]", "'0' is a whole number, not an object"), (b'[{"stage": "a"}]', "no '0.folder'")):
        cases.append(Case("status x", 1, rf"\bx/plan.json: {expected}", {"x/plan.json": content}))
    for content in (b"{", b"[]", b"{}", b'{"title": 3}', b'{"title": "a", "options": {"translation": []}}', b"[" * 9000):
        cases.append(Case("explore x", 1, r"\bx/results.json: ", {"x/results.json": content}))
    for content, expected in (
        (b'{"tokens": ["a"], "key": "\\ud800"}\n', r"x:1: the escape \\ud800 is half of a character"),
        (b'{"tokens": ["a"], "\\udfff": 1}\n', r"x:1: the escape \\udfff is half of a character"),
    ):
        cases.append(Case("project spans x c/dev.target c/dev.links", 1, expected, {"x": content}))
    for content, expected in (
        (b'{"title": "t", "translation": [{}]}', r"no 'translation\.0\.system'"),
        (
            b'{"title": "t", "movement": {"distances": {"a": 1}}}',
            r"'movement\.distances\.a' is not named by a whole number",
        ),
        (b'{"title": "t", "costs": [{"stage": []}]}', r"'costs\.0\.stage' is a list, not text"),
        (
            b'{"title": "t", "sentences": [{"source": [], "hypotheses": [1]}]}',
            r"'sentences\.0\.hypotheses\.0' is a whole number",
        ),
    ):
        cases.append(Case("report x", 1, rf"\bx/results.json: .*{expected}", {"x/results.json": content}))
    for content, expected in (
        (b"haus\n", "x:1: expected a term, a tab"),
        (b"a\tb\tc\n", "x:1: expected"),
        (b"\xff", "x:1: not valid"),
    ):
        cases.append(Case("translate system c/dev.source --glossary x", 1, expected, {"x": content}))
    for content, expected in (
        (b"", "x: the file contains no key"),
        (b"# a\nshort\n", "x:2: a key must have at least 8 ASCII characters"),
    ):
        cases.append(Case("serve de-en=system --port 0 --keys x", 1, expected, {"x": content}))
    cases += [Case("run x.toml -o new", 1, expected, {"x.toml": content}) for content, expected in EXPERIMENTS]
    return [*cases, *_usage_cases()]


def _usage_cases() -> Iterator[Case]:
    """Unknown options, missing arguments, and numbers out of range for every numeric option of every command."""
    for verb, model in [*((verb, "") for verb in verbs()), *(("train", model) for model in MODELS)]:
        command = _command(verb, model)
        yield Case(f"{verb} {model} --no-such-option", 2, "unknown option --no-such-option")
        if any(p.required for p in command.params):
            yield Case(f"{verb} {model}".strip(), 2, "missing (argument|option)")
        words = ["x" for p in command.params if p.param_type_name == "argument" and p.required]
        words[:1] = [model] if model else words[:1]
        needed = [f"{p.opts[-1]} x" for p in command.params if p.param_type_name == "option" and p.required]
        for parameter in command.params:
            kind = plain_type(parameter.type.opt.type) if isinstance(parameter.type, ValueType) else None
            if parameter.param_type_name != "option" or kind not in (int, float):
                continue
            flag = next(name for name in parameter.opts if name.startswith("--"))
            base = " ".join([verb, *words, *needed, flag])
            yield Case(f"{base} x", 2, f"{flag} must be a (whole )?number, not 'x'")
            if kind is int:
                yield Case(f"{base} 99999999999999999999", 2, f"{flag} must be at most ")
                yield Case(f"{base} -99999999999999999999", 2, f"{flag} must be at least ")
            else:
                yield Case(f"{base} inf", 2, f"{flag} must be a finite number, not inf")
                yield Case(f"{base} nan", 2, f"{flag} must be a finite number, not nan")


def _command(verb: str, model: str) -> Command:
    """A command, with the options of a model if it takes one."""
    command = Program().load(verb)
    command.declare([model])
    return command


def run(command: str) -> tuple[Any, str, str]:
    """Run a command inside this process: exit status, stdout, stderr."""
    words = shlex.split(command)
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    arguments, status = sys.argv, 0
    sys.argv = ["hyperbaton", *words]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                run_program(Program(), Signals())
            except SystemExit as end:
                status = end.code or 0  # type: ignore[assignment]
            except BaseException:
                status = -1
                traceback.print_exc()
    finally:
        sys.argv = arguments
    texts = [stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err)]  # type: ignore[attr-defined]
    return status, texts[0], texts[1]


def prepare(folder: Path) -> None:
    """Build the corpus, models and systems that commands refer to."""
    with contextlib.chdir(folder):
        Path("empty").write_bytes(b"")
        train = "c/train.source c/train.target c/train.links"
        for command in (
            "generate -o c -n 60 --dev 6 --test 4 -q",
            "align c/train.source c/train.target --save-model aligner -o aligner.links -q",
            f"extract {train} -o phrases -q",
            "lm c/train.target -o lm --order 2 -q --discount-fallback",
            f"train lexicalized {train} -o lr -q",
            f"train pair {train} -o pair -q --learner lbfgs:max-passes=2",
            f"train pair {train} -o tagpair -q --learner lbfgs:max-passes=2 --source-tags c/train.source.tags",
            f"train block_me {train} -o block -q --learner lbfgs:max-passes=2 --source-tags c/train.source.tags"
            " --source-trees c/train.source.trees",
            "system -o system --phrases phrases --lm lm -q",
            "system -o tagged --phrases phrases --lm lm --reordering P=tagpair -q",
            f"extract {train} -o rules -q --hierarchical --max-span 4",
            "system -o hiero --rules rules --lm lm -q",
            "system -o block-system --phrases phrases --lm lm --reordering B=block -q",
        ):
            status, _, err = run(command)
            if status:
                raise RuntimeError(f"{command}: {err}")


def check(case: Case, folder: Path) -> str:
    """Run one case in the folder; return its fault, if any."""
    with contextlib.chdir(folder):
        for name, content in case.files.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_bytes(content)
        before = _files()
        try:
            outcome = Outcome(*run(case.command), [])
            outcome = Outcome(outcome.status, outcome.out, outcome.err, sorted(_files() - before))
        finally:
            for name in sorted(_files() - _prepared_files(folder), reverse=True):
                path = Path(name)
                path.rmdir() if path.is_dir() else path.unlink()
        return outcome.fault(case)


def _files() -> set[str]:
    return {str(path) for path in Path().rglob("*")}


@cache
def _prepared_files(folder: Path) -> set[str]:
    with contextlib.chdir(folder):
        return {name for name in _files() if Path(name).parts[0] not in ("x", "x.toml", "x.arpa", "new")}


def main() -> int:
    """Run the cases."""
    parser = argparse.ArgumentParser(description="Run bad inputs against every verb.")
    parser.add_argument("--share", type=float, default=1.0, help="part of the cases to run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the cases and stop")
    parser.add_argument("--only", default="", help="cases whose command has this text")
    arguments = parser.parse_args()
    chosen = [case for case in cases() if arguments.only in case.command]
    if arguments.list:
        for case in chosen:
            print(case.status, case.command, case.expected, sep="\t")
        return 0
    chosen = random.Random(arguments.seed).sample(chosen, round(arguments.share * len(chosen)))
    started, faults = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for case in chosen:
            fault = check(case, Path(folder))
            if fault:
                faults += 1
                print(f"{case.command[:110]}\n    expected {case.status} {case.expected}\n    {fault[:300]}")
    print(f"{len(chosen)} cases, {faults} faults, {time.monotonic() - started:.0f} s")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
