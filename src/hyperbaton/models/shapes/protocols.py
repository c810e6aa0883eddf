"""The three shapes of reordering models, recognised by a class's methods, so that no base class is required.

A function whose work depends on the shape is generic (`functools.singledispatch`), and has one registration for each.
"""

from __future__ import annotations

from abc import ABC, ABCMeta
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hyperbaton import _core
    from hyperbaton.base.arrays import Array
    from hyperbaton.corpus import Annotations, Text
    from hyperbaton.models.shapes.batch import Batch, Steps
    from hyperbaton.models.shapes.next_position import JumpLogProbs
    from hyperbaton.phrases import OrientationSet, TranslationOptions


class _Answers(ABCMeta):
    """A class is of the shape if it has the shape's method."""

    methods: tuple[str, ...] = ()

    def __subclasscheck__(cls, subclass: type) -> bool:
        return any(callable(getattr(subclass, name, None)) for name in cls.methods)

    def __instancecheck__(cls, instance: object) -> bool:
        return issubclass(type(instance), cls)


class PerOption(ABC, metaclass=_Answers):
    """`option_logprobs(source, options)`: (n_options, n_classes), with `orientations` as attribute."""

    methods = ("option_logprobs",)

    if TYPE_CHECKING:
        orientations: str | OrientationSet

        def option_logprobs(self, source: Text, options: TranslationOptions, *annotations: Annotations) -> Array: ...


class PerJump(ABC, metaclass=_Answers):
    """`jump_logprobs(source)`: a matrix for each sentence, row 0 the start, last column the end."""

    methods = ("jump_logprobs",)

    if TYPE_CHECKING:

        def jump_logprobs(self, source: Text, *annotations: Annotations) -> JumpLogProbs | Sequence[Array]: ...


class PerStep(ABC, metaclass=_Answers):
    """`step_scores(steps)`: scores and states of many steps; or `step_scorer(batch, weight)`: a scorer in the core."""

    methods = ("step_scores", "step_scorer")

    if TYPE_CHECKING:

        def step_scores(self, steps: Steps) -> tuple[Array, Array]: ...


@dataclass(frozen=True)
class Declared:
    """What a model may declare, as attributes of these names, beyond the method of its shape; and what holds otherwise."""

    # Annotations that it needs, by name: its scores then take `annotations` as last argument.
    needs: tuple[str, ...] = ()
    # Of an orientation model: movements from the previous phrase or to the next one; the classes that probabilities are
    # normalised over at a step, "all" or "possible"; weights (coverage states, classes) that are added before.
    side: Literal["before", "after"] = "before"
    classes: str = "all"
    coverage_weights_: Array | None = None
    # Of a jump model: the words that probabilities are normalised over, "all" or "remaining", the untranslated ones.
    candidates: str = "all"
    # The models with one feature each; by default the model itself.
    split: Callable[[], Sequence[object]] | None = None
    # A step model in the core, with one weight; any model in the core, with as many values as weights, and these weights
    # before tuning.
    step_scorer: Callable[[Batch, float], _core.Feature] | None = None
    search_feature: Callable[[Batch, list[float]], _core.Feature] | None = None
    n_values: int | None = None
    start_weights: list[float] | None = None
    # Whether it scores parts of derivations by rules in the chart; by default, jump and orientation models that do not
    # depend on the coverage. Others score complete derivations.
    in_chart: bool | None = None
    # A model for use only, with fewer bytes: packed(exact); if exact, with the same scores.
    packed: Callable[[bool], object] | None = None
    # Nats of one unit of its values, for models that are explained in probabilities.
    nats: float = 1.0

    @classmethod
    def of(cls, model: object) -> Declared:
        """What a model declares."""
        return cls(**{field.name: getattr(model, field.name) for field in fields(cls) if hasattr(model, field.name)})

    @property
    def only_remaining(self) -> bool:
        """Whether jumps are normalised over the untranslated words."""
        return self.candidates == "remaining"


def needed(model: object, annotations: Annotations) -> tuple[Annotations, ...]:
    """The last argument of a model's scores: the annotations, if it needs any."""
    return (annotations,) if Declared.of(model).needs else ()
