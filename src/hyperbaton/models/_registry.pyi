"""Written by `make stubs`."""

from typing import Literal, overload

from hyperbaton.base.registry import Registry
from hyperbaton.models.block_me import BlockMe
from hyperbaton.models.dpr import Dpr
from hyperbaton.models.dual_mlr import DualMlr
from hyperbaton.models.encoder import Encoder
from hyperbaton.models.encoder_orientation import OrientationEncoder
from hyperbaton.models.lexicalized import Lexicalized
from hyperbaton.models.linear import Linear
from hyperbaton.models.linear_jump import LinearJump
from hyperbaton.models.maxent import Maxent
from hyperbaton.models.mmr import Mmr
from hyperbaton.models.mms import Mms
from hyperbaton.models.nine_class import NineClass
from hyperbaton.models.osm import OperationSequence
from hyperbaton.models.pair import Pair
from hyperbaton.models.sequence import Sequence
from hyperbaton.models.shapes.base import ReorderingModel
from hyperbaton.models.svm import Svm

class _Models(Registry[ReorderingModel]):
    @overload
    def __getitem__(self, name: Literal["block_me", "block-me"]) -> type[BlockMe]: ...
    @overload
    def __getitem__(self, name: Literal["dpr"]) -> type[Dpr]: ...
    @overload
    def __getitem__(self, name: Literal["dual_mlr", "dual-mlr"]) -> type[DualMlr]: ...
    @overload
    def __getitem__(self, name: Literal["encoder"]) -> type[Encoder]: ...
    @overload
    def __getitem__(self, name: Literal["encoder_orientation", "encoder-orientation"]) -> type[OrientationEncoder]: ...
    @overload
    def __getitem__(self, name: Literal["lexicalized"]) -> type[Lexicalized]: ...
    @overload
    def __getitem__(self, name: Literal["linear"]) -> type[Linear]: ...
    @overload
    def __getitem__(self, name: Literal["linear_jump", "linear-jump"]) -> type[LinearJump]: ...
    @overload
    def __getitem__(self, name: Literal["maxent"]) -> type[Maxent]: ...
    @overload
    def __getitem__(self, name: Literal["mmr"]) -> type[Mmr]: ...
    @overload
    def __getitem__(self, name: Literal["mms"]) -> type[Mms]: ...
    @overload
    def __getitem__(self, name: Literal["nine_class", "nine-class"]) -> type[NineClass]: ...
    @overload
    def __getitem__(self, name: Literal["osm"]) -> type[OperationSequence]: ...
    @overload
    def __getitem__(self, name: Literal["pair"]) -> type[Pair]: ...
    @overload
    def __getitem__(self, name: Literal["sequence"]) -> type[Sequence]: ...
    @overload
    def __getitem__(self, name: Literal["svm"]) -> type[Svm]: ...
    @overload
    def __getitem__(self, name: str) -> type[ReorderingModel]: ...

MODELS: _Models
