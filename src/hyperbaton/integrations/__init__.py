"""Adapters to classes of other toolkits: each module needs its own extra."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.integrations.sil_machine import HyperbatonTrainer as HyperbatonTrainer
    from hyperbaton.integrations.sil_machine import HyperbatonTranslationEngine as HyperbatonTranslationEngine
    from hyperbaton.integrations.sil_machine import HyperbatonWordAligner as HyperbatonWordAligner
    from hyperbaton.integrations.sil_machine import HyperbatonWordAlignmentModel as HyperbatonWordAlignmentModel

LazyNames(globals())
