from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.errors import OptionError
from hyperbaton.base.options import Arguments
from hyperbaton.base.outputs import AnyPath, Kind, check_artefact
from hyperbaton.cli._common import log, print_result, verify_artefacts
from hyperbaton.cli._parameters import READS, WRITES_FILE, Argument, Flag, Force, Json, Verify, Writes
from hyperbaton.cli._raw import Tokenized, warn_of_raw
from hyperbaton.cli._resources import MemoryOptions
from hyperbaton.corpus import Text
from hyperbaton.lm import Estimation, LanguageModel
from hyperbaton.lm.estimation import estimate_ngrams
from hyperbaton.lm.model import KIND
from hyperbaton.lm.ngrams import Ngrams


def _is_arpa(path: AnyPath) -> bool:
    return ".arpa" in Path(path).name and not Path(path).is_dir()


def _written(values: Arguments) -> dict[AnyPath, Kind]:
    output = values["output"]
    return {} if output is None else {output: "file" if _is_arpa(output) else "artefact"}


def lm(
    text: Annotated[str, Argument("TEXT", "Tokenized text; or an ARPA file, or a stored model."), READS],
    *,
    estimation: Estimation,
    output: Annotated[
        Path | None,
        Flag("Artefact to write; an ARPA file if its name contains .arpa.", "-o"),
        Writes("artefact", updates="text", destinations=_written),
    ] = None,
    arpa: Annotated[str | None, Flag("ARPA file to write; - is stdout."), WRITES_FILE] = None,
    from_arpa: Annotated[bool, Flag("Read TEXT as an ARPA file regardless of its name.")] = False,
    vocabulary: Annotated[str | None, Flag("Vocabulary file; other words become <unk>."), READS] = None,
    quantize: Annotated[
        int | None, Flag("Store probabilities and back-off weights in this many bits.", minimum=1, maximum=8)
    ] = None,
    tokenized: Tokenized = False,
    packed: Annotated[bool, Flag("Sort n-grams instead of hashing them: smaller, and slower to query.")] = False,
    force: Force = False,
    verify: Verify = False,
    common: MemoryOptions,
    json: Json = False,
) -> None:
    """Estimate an n-gram language model from TEXT, or convert a model.

    A model is estimated with interpolated modified Kneser-Ney smoothing, as lmplz does. A file whose name contains .arpa
    is an ARPA file, as TEXT and as output; a folder is a stored model.

    Examples:

        hyperbaton lm train.en -o lm --order 5
        hyperbaton lm train.en -o lm --order 4 --prune "0 0 1" --arpa lm.arpa.gz
        hyperbaton lm lm.arpa.gz -o lm --quantize 8
        hyperbaton lm lm --arpa lm.arpa.gz
    """
    if output is None and arpa is None:
        raise OptionError("no output: give -o LM, --arpa FILE or both")
    if output is not None and _is_arpa(output):
        if arpa is not None:
            raise OptionError(f"-o {output} and --arpa {arpa} are both ARPA files; give one of them")
        output, arpa = None, str(output)
    if output is not None:
        check_artefact(output, KIND, force=force)
    stored, is_arpa = Path(text).is_dir(), from_arpa or _is_arpa(text)
    if (stored or is_arpa) and (estimation != Estimation() or vocabulary is not None):
        raise OptionError(f"{text} is already a model: --order and other options for estimation do not apply")
    verify_artefacts(verify, text)
    result: Ngrams | LanguageModel
    with common.open(output or arpa) as resources:
        if stored:
            result = LanguageModel.load(text)
        elif is_arpa:
            result = LanguageModel.read_arpa(text)
        else:
            words = Text.read(text, scratch=resources.scratch)
            warn_of_raw(text, words, common.quiet or tokenized)
            allowed = None if vocabulary is None else Text.read(vocabulary).vocabulary
            log.info("estimating from %d sentences of %d words", len(words), words.n_tokens)
            result = estimate_ngrams(words, estimation, resources.stage("estimate"), allowed)
    model: LanguageModel | None = None  # an ARPA file needs no tables
    if isinstance(result, LanguageModel):
        model = result
    elif output is not None or quantize is not None or packed:
        model = LanguageModel.of(result, estimation, common.n_threads)
    if model is not None and quantize is not None:
        result = model = model.quantized(quantize)
    if model is not None and packed:
        result = model = model.packed(exact=True)
    if model is not None and output is not None:
        model.save(output)
    if arpa is not None:
        result.write_arpa(arpa, common.n_threads)
    _summarize(result, None if model is None else model.nbytes, common.quiet, json)


def _summarize(ngrams: Ngrams | LanguageModel, nbytes: int | None, quiet: bool, json: bool) -> None:
    counts = ngrams.n_ngrams
    summary = {"order": len(counts), "n_words": len(ngrams.vocabulary), "n_ngrams": counts}
    sizes = ", ".join(counted(count, f"{n}-gram") for n, count in enumerate(counts, start=1))
    if nbytes is not None:
        summary["bytes"], sizes = nbytes, f"{sizes}; {nbytes / 2**20:,.1f} MiB"
    print_result(summary, sizes, json, quiet)
