"""A decoder that is made up, for tests of tuning: sentences with fixed candidates, of which it returns the best n."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hyperbaton.metrics import Outputs, make_metric
from hyperbaton.tune import CandidateLists, Candidates

Floats = npt.NDArray[np.float64]
START = np.array([0.1, 1.0, 0.5, -1.0, 1.0])  # the last feature never differs
WORDS = [f"w{i}" for i in range(400)]


class MadeUp:
    """Candidates share words with their reference as far as hidden weights like their features."""

    def __init__(self, n_sentences: int = 40, size: int = 60, n_best: int = 15, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n_best, self.calls = n_best, 0
        self.features = rng.normal(size=(n_sentences, size, 5)) * [1, 5, 0.2, 1, 1]
        self.features[:, :, 4] = 7
        hidden = np.array([2.0, -0.1, 3.0, 0.5, 0])
        quality = self.features @ hidden + rng.normal(size=(n_sentences, size))
        self.references, self.texts = [], []
        for s in range(n_sentences):
            words = [WORDS[i] for i in rng.integers(len(WORDS), size=12)]
            self.references.append(" ".join(words))
            self.texts.append([])
            for c in range(size):
                n_right = int(np.clip(5 + quality[s, c], 0, 11))
                wrong = [f"x{i}" for i in rng.integers(1000, size=12 - n_right)]
                self.texts[s].append(" ".join(words[:n_right] + wrong))

    def __call__(self, weights: Floats) -> Candidates:
        self.calls += 1
        scores = self.features @ weights
        top = np.argsort(-scores, axis=1, kind="stable")[:, : self.n_best]
        sentence = np.repeat(np.arange(len(top)), self.n_best)
        chosen = top.ravel()
        texts = [self.texts[s][c] for s, c in zip(sentence.tolist(), chosen.tolist(), strict=True)]
        return Candidates(sentence, self.features[sentence, chosen], texts)


def first_lists(nbest: Candidates, references: list[str], metric_name: str = "bleu:tokenize=none") -> CandidateLists:
    """The lists of a first iteration."""
    metric = make_metric(metric_name)
    statistics = metric.statistics(Outputs.of(nbest.hypotheses, references, line=nbest.sentence))
    return CandidateLists.empty(len(references), nbest.features.shape[1]).with_new(nbest, statistics)
