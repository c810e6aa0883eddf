"""Written by `make stubs`."""

from typing import Literal, overload

from hyperbaton.base.registry import Registry
from hyperbaton.learn._learner import Learner
from hyperbaton.learn.dual_eg import DualEg
from hyperbaton.learn.extragradient import Extragradient
from hyperbaton.learn.gis import Gis
from hyperbaton.learn.iis import Iis
from hyperbaton.learn.lbfgs import Lbfgs
from hyperbaton.learn.mmr import Mmr
from hyperbaton.learn.ordinal import Ordinal
from hyperbaton.learn.psl import Psl
from hyperbaton.learn.relative_frequency import RelativeFrequency
from hyperbaton.learn.sgd import Sgd
from hyperbaton.learn.svm import Svm

class _Learners(Registry[Learner]):
    @overload
    def __getitem__(self, name: Literal["dual_eg", "dual-eg"]) -> type[DualEg]: ...
    @overload
    def __getitem__(self, name: Literal["extragradient"]) -> type[Extragradient]: ...
    @overload
    def __getitem__(self, name: Literal["gis"]) -> type[Gis]: ...
    @overload
    def __getitem__(self, name: Literal["iis"]) -> type[Iis]: ...
    @overload
    def __getitem__(self, name: Literal["lbfgs"]) -> type[Lbfgs]: ...
    @overload
    def __getitem__(self, name: Literal["mmr"]) -> type[Mmr]: ...
    @overload
    def __getitem__(self, name: Literal["ordinal"]) -> type[Ordinal]: ...
    @overload
    def __getitem__(self, name: Literal["psl"]) -> type[Psl]: ...
    @overload
    def __getitem__(self, name: Literal["relative_frequency", "relative-frequency"]) -> type[RelativeFrequency]: ...
    @overload
    def __getitem__(self, name: Literal["sgd"]) -> type[Sgd]: ...
    @overload
    def __getitem__(self, name: Literal["svm"]) -> type[Svm]: ...
    @overload
    def __getitem__(self, name: str) -> type[Learner]: ...

LEARNERS: _Learners
