"""The features of NI11 Table 3.

Word n-grams in a window around the source phrase, and word n-grams of the target phrase; also of word classes where
they are given. An n-gram is identified by its content and by where it starts: −3 … −1 left of the source phrase,
1 … 3 right of it, 0 … in the target phrase. It stays on its side (NI11 Fig. 7).

NI11 calls the whole approach DPR. The models `maxent`, `svm`, `mmr`, `mms` and `dual_mlr` use these features; our
model `dpr` also has a global model, which needs features of the source phrase, and uses `context`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.features._templates import Layer, Template, TemplateFeatures


@dataclass
class Dpr(TemplateFeatures):
    """n-grams around the source phrase and of the target phrase, of words and of word classes (Ni 2011, Table 3).

    >>> [t.name for t in Dpr(window=1, longest=1, inner_words=1).templates()]
    ['source -1', 'source +1', 'source class -1', 'source class +1', 'target +0', 'target class +0']
    """

    window: int = option(3, "number of context words on each side of the source phrase", minimum=0, maximum=100)
    longest: int = option(3, "longest n-gram, in words", minimum=1, maximum=4)
    inner_words: int = option(8, "n-grams inside a phrase start within this many first words", minimum=0, maximum=255)
    coverage: bool = option(False, "use which words next to the phrase are translated, and how many remain")

    def templates(self) -> Iterator[Template]:
        source_layers: tuple[Layer, Layer] = ("source", "source class")
        for layer in source_layers:
            for start in range(-self.window, 0):
                for n in range(1, min(self.longest, -start) + 1):
                    yield Template(f"{layer} {start:+d}", layer, "before", start, n)
            for start in range(1, self.window + 1):
                for n in range(1, min(self.longest, self.window + 1 - start) + 1):
                    yield Template(f"{layer} {start:+d}", layer, "after", start, n)
        target_layers: tuple[Layer, Layer] = ("target", "target class")
        for layer in target_layers:
            for start in range(self.inner_words):
                for n in range(1, self.longest + 1):
                    yield Template(f"{layer} {start:+d}", layer, "inside", start, n)
