"""The features of NI11 Table 3 with those of the source phrase itself, for one model of all phrases.

NI11's sub-models know their source phrase; a model of all phrases has to see it: its n-grams by content and place, as in
the target phrase.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperbaton.features._templates import Layer, Template
from hyperbaton.features.dpr import Dpr


@dataclass
class Context(Dpr):
    """n-grams around and of the source phrase, and of the target phrase; of words and of word classes."""

    def templates(self) -> Iterator[Template]:
        """Those of `dpr`, then those inside the source phrase."""
        yield from super().templates()
        layers: tuple[Layer, Layer] = ("source", "source class")
        for layer in layers:
            for start in range(self.inner_words):
                for n in range(1, self.longest + 1):
                    yield Template(f"{layer} inside +{start}", layer, "inside", start, n)
