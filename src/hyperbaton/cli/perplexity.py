from __future__ import annotations

from pathlib import Path
from typing import Annotated

from hyperbaton.base.counted import counted
from hyperbaton.base.progress import n_threads
from hyperbaton.cli._common import print_json, verify_artefacts
from hyperbaton.cli._parameters import READS, Argument, Flag, Json, Threads, Verify
from hyperbaton.corpus import Text
from hyperbaton.lm import LanguageModel


def perplexity(
    lm: Annotated[Path, Argument("LM", "A stored model, or an ARPA file."), READS],
    text: Annotated[str, Argument("TEXT", "Tokenized text, one sentence per line."), READS],
    sentences: Annotated[bool, Flag("Print the natural log of each sentence's probability instead.")] = False,
    verify: Verify = False,
    threads: Threads = 0,
    json: Json = False,
) -> None:
    """Measure how well a language model predicts TEXT.

    The perplexity is the exponential of the mean negative log-probability of a word; sentence ends count as words.

    Examples:

        hyperbaton perplexity lm test.en
        hyperbaton perplexity lm.arpa.gz test.en --json
    """
    verify_artefacts(verify, lm)
    model = LanguageModel.load(lm) if lm.is_dir() else LanguageModel.read_arpa(lm)
    words = Text.read(text)
    if sentences:
        logprobs = model.score(words, threads=n_threads(threads)).tolist()
        if json:
            print_json(logprobs)
        else:
            for logprob in logprobs:
                print(f"{logprob:.6f}")
        return
    result = model.perplexity(words, threads=n_threads(threads))
    if json:
        print_json(result._asdict())
    else:
        print(f"perplexity {result.including_unknown:.4f}, without unknown words {result.excluding_unknown:.4f}")
        print(
            f"{counted(result.n_tokens, 'token', form='d')}, {result.n_unknown} unknown; "
            f"log-probability {result.logprob:.4f}"
        )
