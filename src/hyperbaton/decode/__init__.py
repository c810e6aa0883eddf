"""Translation: a system of models, and the search for its best translations."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.decode.annotated import annotate as annotate
    from hyperbaton.decode.options import Decoding as Decoding
    from hyperbaton.decode.preordering import Permutations as Permutations
    from hyperbaton.decode.preordering import PreorderOptions as PreorderOptions
    from hyperbaton.decode.preordering import link_orders as link_orders
    from hyperbaton.decode.preordering import preorder as preorder
    from hyperbaton.decode.result import Step as Step
    from hyperbaton.decode.result import Translations as Translations
    from hyperbaton.decode.scorers import ModelUse as ModelUse
    from hyperbaton.decode.scorers import ReorderingTable as ReorderingTable
    from hyperbaton.decode.system import System as System
    from hyperbaton.decode.translator import NBest as NBest
    from hyperbaton.decode.translator import TokenTranslator as TokenTranslator

LazyNames(globals())
