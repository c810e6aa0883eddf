"""Reordering models, one file each.

>>> from hyperbaton.corpus import Bitext
>>> from hyperbaton.models import MODELS
>>> bitext = Bitext.of(["ta chi fan"] * 3, ["he eats rice"] * 3, [[(0, 0), (1, 1), (2, 2)]] * 3)
>>> model = MODELS["lexicalized"](orientations="three").fit(bitext)
>>> model.class_names
('d<0', 'd=0', 'd>0')
"""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.models._registry import MODELS as MODELS
    from hyperbaton.models.shapes.base import KIND as KIND
    from hyperbaton.models.shapes.base import Questions as Questions
    from hyperbaton.models.shapes.base import ReorderingModel as ReorderingModel
    from hyperbaton.models.shapes.batch import Batch as Batch
    from hyperbaton.models.shapes.batch import Steps as Steps
    from hyperbaton.models.shapes.loading import load_model as load_model
    from hyperbaton.models.shapes.next_position import JumpLogProbs as JumpLogProbs
    from hyperbaton.models.shapes.next_position import JumpRows as JumpRows
    from hyperbaton.models.shapes.next_position import NextPositionModel as NextPositionModel
    from hyperbaton.models.shapes.orientation import OrientationModel as OrientationModel
    from hyperbaton.models.shapes.orientation import normalised as normalised
    from hyperbaton.models.shapes.protocols import Declared as Declared
    from hyperbaton.models.shapes.protocols import PerJump as PerJump
    from hyperbaton.models.shapes.protocols import PerOption as PerOption
    from hyperbaton.models.shapes.protocols import PerStep as PerStep
    from hyperbaton.models.shapes.protocols import needed as needed
    from hyperbaton.models.shapes.step import StepModel as StepModel
    from hyperbaton.models.shapes.step import python_steps as python_steps

LazyNames(globals())
