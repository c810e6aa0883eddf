"""Translation: a system of models, and the search for its best translations."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.decode.annotated import annotate
    from hyperbaton.decode.options import Decoding
    from hyperbaton.decode.preordering import Permutations, PreorderOptions, link_orders, preorder
    from hyperbaton.decode.result import Step, Translations
    from hyperbaton.decode.scorers import ModelUse, ReorderingTable
    from hyperbaton.decode.system import System
    from hyperbaton.decode.translator import NBest, Translator
else:
    __getattr__ = names_from(
        __name__,
        {
            "annotated": ("annotate",),
            "options": ("Decoding",),
            "preordering": ("Permutations", "PreorderOptions", "link_orders", "preorder"),
            "result": ("Step", "Translations"),
            "scorers": ("ModelUse", "ReorderingTable"),
            "system": ("System",),
            "translator": ("NBest", "Translator"),
        },
    )

__all__ = [
    "Decoding",
    "ModelUse",
    "NBest",
    "Permutations",
    "PreorderOptions",
    "ReorderingTable",
    "Step",
    "System",
    "Translations",
    "Translator",
    "annotate",
    "link_orders",
    "preorder",
]
