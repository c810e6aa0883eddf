"""The three shapes of reordering models, recognised by a class's methods, so that no base class is required.

A function whose work depends on the shape is generic (`functools.singledispatch`), and has one registration for each.
"""

from __future__ import annotations

from abc import ABC, ABCMeta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hyperbaton.base.arrays import Array
    from hyperbaton.corpus import Annotations, Text
    from hyperbaton.models.shapes.next_position import JumpLogProbs
    from hyperbaton.models.shapes.step import Steps
    from hyperbaton.phrases import OrientationSet, TranslationOptions


class _Answers(ABCMeta):
    """A class is of the shape if it has the shape's method."""

    methods: tuple[str, ...] = ()

    def __subclasscheck__(cls, subclass: type) -> bool:
        return any(callable(getattr(subclass, name, None)) for name in cls.methods)

    def __instancecheck__(cls, instance: object) -> bool:
        return issubclass(type(instance), cls)


class PerOption(ABC, metaclass=_Answers):
    """`option_logprobs(source, options)`: (n_options, n_classes), with `orientations` and `side` as attributes.

    With `classes` "possible" they are normalised over the classes that are possible at a step; `coverage_weights_`
    (coverage states, classes) are added before.
    """

    methods = ("option_logprobs",)

    if TYPE_CHECKING:
        orientations: str | OrientationSet

        def option_logprobs(self, source: Text, options: TranslationOptions, *annotations: Annotations) -> Array: ...


class PerJump(ABC, metaclass=_Answers):
    """`jump_logprobs(source)`: a matrix for each sentence, row 0 the start, last column the end.

    A model with `needs`, names of annotations, is also given `annotations`. With `candidates` "remaining" its scores are
    normalised over the untranslated words and the end.
    """

    methods = ("jump_logprobs",)

    if TYPE_CHECKING:

        def jump_logprobs(self, source: Text, *annotations: Annotations) -> JumpLogProbs | Sequence[Array]: ...


class PerStep(ABC, metaclass=_Answers):
    """`step_scores(steps)`: scores and states of many steps; or `step_scorer(batch, weight)`: a scorer in the core."""

    methods = ("step_scores", "step_scorer")

    if TYPE_CHECKING:

        def step_scores(self, steps: Steps) -> tuple[Array, Array]: ...


def needed(model: object, annotations: Annotations) -> tuple[Annotations, ...]:
    """The last argument of a model's scores: the annotations, if it needs any."""
    return (annotations,) if getattr(model, "needs", ()) else ()
