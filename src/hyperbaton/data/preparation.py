"""Downloaded sentence pairs made into the text of an experiment: tokenized, tagged, cleaned, split and linked.

The pairs of the datasets are tokenized and cleaned together, then split. Parts for tuning and testing are drawn by a hash
of the source sentence and the seed, one pair of each sentence, so that a longer corpus changes few of them; or they are
datasets themselves, which are kept whole. None of their sentences stays in the training text, on either side.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hyperbaton.align import ALIGNERS, WordAligner
from hyperbaton.base.counted import counted
from hyperbaton.base.errors import ArtefactError, InputError, OptionError
from hyperbaton.base.options import to_mapping
from hyperbaton.base.progress import Bars, n_threads
from hyperbaton.base.writing import check_folder, writing_folder
from hyperbaton.corpus import Bitext
from hyperbaton.corpus.clean import NOT_EMPTY, Cleaning, CleaningReport, clean_files, filtered_lines
from hyperbaton.corpus.files import read_byte_lines, read_pieces, read_sentences, write_pieces
from hyperbaton.corpus.processing import TextSide
from hyperbaton.corpus.raw import RawLines, tag, tokenize
from hyperbaton.corpus.taggers import TAGGERS, Tagger
from hyperbaton.corpus.tokenizers import TOKENIZERS
from hyperbaton.data.datasets import Catalogue, Dataset
from hyperbaton.data.gold import GOLD_SETS, get_gold_set

DESCRIPTION = "corpus.json"
HELD_OUT = ("dev", "devtest", "test")
LAYOUTS = {"plain": "", "benchmarks": ".xz"}  # and the ending of their files
REST = "more"  # the pairs that n_train leaves out, in the layout of the benchmarks
SPLITS = ("train", REST, *HELD_OUT)
USUAL_SIZE, USUAL_SHARE = 1000, 10  # of a drawn part: this many pairs, or a tenth of all if that is less

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Preparation:
    """How downloaded pairs become the files of an experiment.

    Arguments:
        held_out: for dev, devtest and test, the number of pairs to draw or the name of a dataset; missing parts have
        the default size.
        n_train: the most pairs of the training text; 0 takes all.
        tokenizers: of source and target, by name; None takes the one for the language.
        tagger: of the source, as the registry of taggers makes it; None takes the tags of the tokenizer, if it knows any.
        aligner: as the registry of aligners makes it; None leaves out the links.
        layout: `benchmarks` compresses the files, and writes the pairs that `n_train` leaves out as more.de, more.en, …
    """

    held_out: Mapping[str, int | str] = field(default_factory=dict)
    n_train: int = 0
    cleaning: Cleaning = field(default_factory=Cleaning)
    tokenizers: tuple[str | None, str | None] = (None, None)
    tagger: str | None = None
    aligner: str | None = "hmm:for=phrases"
    seed: int = 1
    layout: str = "plain"


@dataclass(frozen=True)
class PreparedCorpus:
    """The result of preparation: pairs by split, and pairs dropped by cleaning."""

    languages: tuple[str, str]
    n_pairs: dict[str, int]
    report: CleaningReport


def get_corpus(
    names: Sequence[str],
    folder: str | Path,
    options: Preparation | None = None,
    *,
    languages: str | None = None,
    threads: int | None = None,
    bars: Bars | None = None,
) -> PreparedCorpus:
    """Download datasets and write them to a folder as train.de, train.en, train.links and so on, all of them or none.

    Arguments:
        names: of the datasets, as mtdata has them, or of one set of `GOLD_SETS`.
        languages: source and target, such as de-en; None takes those of the first name, in its order.
    """
    options, bars = options or Preparation(), bars or Bars(quiet=True)
    if repeated := [name for name in names if names.count(name) > 1]:  # its pairs would count double
        raise OptionError(f"the dataset {repeated[0]} is named twice; name it once")
    check_corpus_folder(Path(folder))
    if GOLD_SETS.keys() & set(names):
        if len(names) > 1 or languages is not None or options != Preparation():
            raise OptionError(f"{min(GOLD_SETS.keys() & set(names))}: a gold set is got alone, with no option but --output")
        with writing_folder(folder, DESCRIPTION) as out:
            n_pairs = get_gold_set(names[0], out, bars.stage(f"download {names[0]} (KiB)"))
        return PreparedCorpus(GOLD_SETS[names[0]].languages, {"gold": n_pairs}, CleaningReport(n_pairs, n_pairs))
    aligner = None if options.aligner is None else ALIGNERS.make(options.aligner)
    for tokenizer in options.tokenizers:
        _ = None if tokenizer is None else TOKENIZERS[tokenizer]
    tagger = None if options.tagger is None else TAGGERS.make(options.tagger)
    reading = bars.stage("reading mtdata's index of datasets (a minute the first time)")
    reading(0, 1)
    catalogue = Catalogue()
    reading(1, 1)
    pair = None if languages is None else catalogue.parse_languages(languages)
    pair = pair or catalogue.find(names[0]).languages
    sets = {"train": [catalogue.find(name, pair) for name in names]}
    sets |= {split: [catalogue.find(name, pair)] for split, name in options.held_out.items() if isinstance(name, str)}
    source, target = (catalogue.code(language) for language in pair)
    sides = (
        TextSide(source, options.tokenizers[0] or "", tagger=options.tagger or ""),
        TextSide(target, options.tokenizers[1] or ""),
    )
    with writing_folder(folder, DESCRIPTION) as out:
        maker = _Maker(out, out / "work", (source, target), sides, options, n_threads(threads), bars)
        maker.work.mkdir()
        for split, datasets in sets.items():
            maker.fetch(split, datasets, catalogue)
            if tagger is not None:
                maker.tag(split, tagger)
        report = maker.split([split for split in SPLITS if split in sets])
        if aligner is not None:
            maker.link(aligner)
        shutil.rmtree(maker.work)
        maker.describe({split: [each.name for each in datasets] for split, datasets in sets.items()}, catalogue.version)
    return PreparedCorpus((source, target), maker.n_pairs, report)


def check_corpus_folder(folder: Path) -> None:
    """Refuse a folder that contains anything but a corpus made by this module."""
    check_folder(folder, DESCRIPTION)
    if not (folder / DESCRIPTION).is_file():
        return
    try:
        parts = {DESCRIPTION, *json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))["files"]}
    except (ValueError, LookupError, TypeError) as error:
        raise ArtefactError(f"{folder / DESCRIPTION}: is damaged; remove the folder or choose another name") from error
    for path in sorted(folder.iterdir()):
        if path.name not in parts:
            raise ArtefactError(
                f"{folder}: would be replaced, but {path.name} is not part of it; move that or choose another name"
            )


@dataclass
class _Maker:
    """Files on their way from raw text to the finished folder; in the working folder they are SPLIT.COLUMN."""

    out: Path
    work: Path
    codes: tuple[str, str]
    sides: Sequence[TextSide]
    options: Preparation
    threads: int
    bars: Bars
    n_pairs: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.packed = LAYOUTS[self.options.layout]
        self.columns = {"source": f".{self.codes[0]}", "target": f".{self.codes[1]}"}
        if self.sides[0].has_tags:
            self.columns["tags"] = f".{self.codes[0]}.pos"

    def fetch(self, split: str, datasets: Iterable[Dataset], catalogue: Catalogue) -> None:
        """Download and tokenize the text of a split."""
        source, target = (self.work / f"raw.{split}.{side}" for side in ("source", "target"))
        n_pairs = sum(
            catalogue.fetch(dataset, source, target, self.bars.stage(f"download {dataset.name} (KiB)"))
            for dataset in datasets
        )
        self._tokenize(source, self.sides[0], split, "source", n_pairs)
        self._tokenize(target, self.sides[1], split, "target", n_pairs)

    def _tokenize(self, raw: Path, side: TextSide, split: str, column: str, n_lines: int) -> None:
        progress, done = self.bars.stage(f"tokenize {split} {column}"), 0
        tokens, tags = self.work / f"{split}.{column}", self.work / f"{split}.{column}.tags"
        with tokens.open("wb") as token_file, tags.open("wb") as tag_file:
            for token_lines, tag_lines in tokenize(RawLines(raw, repair=True), side.make_tokenizer(), self.threads):
                token_file.write(token_lines)
                tag_file.write(tag_lines)
                done += token_lines.count(b"\n")
                progress(done, n_lines)
        raw.unlink()

    def tag(self, split: str, tagger: Tagger) -> None:
        """Replace the tags of the source, which the tokenizer gave or left blank."""
        progress, done = self.bars.stage(f"tag {split}"), 0
        with (self.work / f"{split}.source.tags").open("wb") as file:
            for piece in tag(read_sentences(self.work / f"{split}.source"), tagger, self.threads):
                file.write(piece)
                done += piece.count(b"\n")
                progress(done, done)

    def split(self, given: Sequence[str]) -> CleaningReport:
        """Clean the text, and draw the splits that are not among those `given`."""
        reports = {split: self._clean(split) for split in given}
        for split, report in reports.items():
            if not report.n_kept:
                raise InputError(f"no sentence pair of {split} is left after cleaning: {', '.join(report.dropped)}")
        source, target = (self._hashes("train", column) for column in ("source", "target"))
        drawn = self._drawn(source, [split for split in HELD_OUT if split not in given])
        taken = np.zeros(len(source), bool)
        for held_source, held_target in (
            *((source[numbers], target[numbers]) for numbers in drawn.values()),
            *((self._hashes(split, "source"), self._hashes(split, "target")) for split in given if split != "train"),
        ):
            taken |= np.isin(source, held_source) | np.isin(target, held_target)
        left = np.flatnonzero(~taken)
        by_hash = left[np.argsort(source[left], kind="stable")]
        drawn["train"] = np.sort(by_hash[: self.options.n_train or len(left)])
        if self.packed:
            drawn[REST] = np.setdiff1d(left, drawn["train"])
        if len(drawn["train"]) == 0:
            raise InputError("no sentence pair is left for training: every one has a sentence of dev, devtest or test")
        for split in SPLITS:
            if split in drawn:
                self._write(split, "train", drawn[split])
            elif split in given:
                self._write(split, split, np.arange(reports[split].n_kept))
        return reports["train"]

    def _clean(self, split: str) -> CleaningReport:
        source, target = (self.work / f"{split}.{column}" for column in ("source", "target"))
        tags = [self.work / f"{split}.source.tags"] if "tags" in self.columns else []
        options = self.options.cleaning if split == "train" else NOT_EMPTY
        return clean_files(source, target, self.work / f"clean.{split}", options, also=tags, repair=True)

    def _cleaned(self, split: str, column: str) -> Path:
        return self.work / f"clean.{split}.{'source.tags' if column == 'tags' else column}"

    def _hashes(self, split: str, column: str) -> Hashes:
        """A number for each line, the same for equal lines and in random order otherwise."""
        key = self.options.seed.to_bytes(8, "little")
        hashes = (
            int.from_bytes(hashlib.blake2b(line, digest_size=8, key=key).digest(), "little")
            for line in read_byte_lines(self._cleaned(split, column))
        )
        return np.fromiter(hashes, np.uint64)

    def _drawn(self, source: Hashes, splits: Sequence[str]) -> dict[str, Numbers]:
        """The pairs of splits that are drawn: the first ones in the order of the hashes, one of each source sentence."""
        _, order = np.unique(source, return_index=True)
        usual = min(USUAL_SIZE, len(order) // USUAL_SHARE)
        sizes = {split: int(self.options.held_out.get(split, usual)) for split in splits}
        if sum(sizes.values()) >= len(order):
            wanted = " and ".join(f"{size:,} for {split}" for split, size in sizes.items() if size)
            raise OptionError(
                f"{counted(len(order), 'different source sentence')} cannot give {wanted} and a training text; "
                "draw fewer, or name more datasets"
            )
        ends = np.cumsum(list(sizes.values()))
        parts = zip(sizes, sizes.values(), ends, strict=True)
        return {split: np.sort(order[end - size : end]) for split, size, end in parts if size}

    def _write(self, split: str, of: str, lines: Numbers) -> None:
        n_lines = sum(piece.count(b"\n") for piece in read_pieces(self._cleaned(of, "source")))
        keep = np.isin(np.arange(n_lines), lines).astype(np.uint8)
        self.n_pairs[split] = len(lines)
        for column, ending in self.columns.items():
            write_pieces(self.out / f"{split}{ending}{self.packed}", filtered_lines(self._cleaned(of, column), keep))

    def link(self, aligner: WordAligner) -> None:
        """Write the links of every split; the aligner learns from all of them together."""
        both = [self.work / "all.source", self.work / "all.target"]
        for path, code in zip(both, self.codes, strict=True):
            files = (self.out / f"{split}.{code}{self.packed}" for split in self.n_pairs)
            write_pieces(path, (piece for file in files for piece in read_pieces(file)))
        bitext = Bitext.read(*both)
        aligner = aligner.fit(bitext, threads=self.threads, progress=self.bars.stage("learn links"))
        links = aligner.align(bitext, threads=self.threads, progress=self.bars.stage("link"))
        start = 0
        for split, n_pairs in self.n_pairs.items():
            links.select(np.arange(start, start + n_pairs)).write(self.out / f"{split}.links{self.packed}")
            start += n_pairs

    def describe(self, datasets: Mapping[str, list[str]], version: str) -> None:
        """Write where the text comes from and how it was made."""
        description: dict[str, object] = {
            "datasets": dict(datasets),
            "mtdata": version,
            "languages": self.codes,
            "text": [str(side) for side in self.sides],
            "clean": to_mapping(self.options.cleaning),
            "align": self.options.aligner,
            "seed": self.options.seed,
            "pairs": self.n_pairs,
            "files": sorted(path.name for path in self.out.iterdir()),
        }
        text = json.dumps(description, ensure_ascii=False, indent=1)
        (self.out / DESCRIPTION).write_text(f"{text}\n", encoding="utf-8")
