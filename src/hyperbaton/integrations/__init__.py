"""Adapters to classes of other toolkits: each module needs its own extra."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.integrations.sil_machine import (
        HyperbatonTrainer,
        HyperbatonTranslationEngine,
        HyperbatonWordAligner,
        HyperbatonWordAlignmentModel,
    )
else:
    __getattr__ = names_from(
        __name__,
        {
            "sil_machine": (
                "HyperbatonTrainer",
                "HyperbatonTranslationEngine",
                "HyperbatonWordAligner",
                "HyperbatonWordAlignmentModel",
            )
        },
    )

__all__ = [
    "HyperbatonTrainer",
    "HyperbatonTranslationEngine",
    "HyperbatonWordAligner",
    "HyperbatonWordAlignmentModel",
]
