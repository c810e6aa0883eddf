"""The features of NI11 Table 3 with those of the source phrase itself, for one model of all phrases.

Each of NI11's sub-models belongs to one source phrase; a global model needs features of it: its n-grams by content and
position, as in the target phrase. The numbers of words before and after the phrase bound its possible movements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hyperbaton.base.options import option
from hyperbaton.features._templates import Layer, Template
from hyperbaton.features.dpr import Dpr


@dataclass
class Context(Dpr):
    """n-grams around and in the source phrase and in the target phrase, of words and classes; position and lengths."""

    far: int = option(15, "largest number of words before, in and after the phrase that gets a separate feature", minimum=1)

    def templates(self) -> Iterator[Template]:
        yield from super().templates()
        layers: tuple[Layer, Layer] = ("source", "source class")
        for layer in layers:
            for start in range(self.inner_words):
                for n in range(1, self.longest + 1):
                    yield Template(f"{layer} inside +{start}", layer, "inside", start, n)
        yield Template("words before", "source", "number_before", length=self.far)
        yield Template("words after", "source", "number_after", length=self.far)
        yield Template("source length", "source", "number_inside", length=self.far)
        yield Template("target length", "target", "number_inside", length=self.far)
