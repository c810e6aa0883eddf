"""A translation service over HTTP: systems loaded once, requests batched, with the interfaces of existing clients."""

from typing import TYPE_CHECKING

from hyperbaton.base.lazy import names_from

if TYPE_CHECKING:
    from hyperbaton.serve.app import make_app
    from hyperbaton.serve.engine import Engine, EngineAnswer, EngineRequest
    from hyperbaton.serve.options import ServiceLimits
    from hyperbaton.serve.server import listen, serve
    from hyperbaton.serve.service import Service
else:
    __getattr__ = names_from(
        __name__,
        {
            "app": ("make_app",),
            "engine": ("EngineAnswer", "Engine", "EngineRequest"),
            "options": ("ServiceLimits",),
            "server": ("listen", "serve"),
            "service": ("Service",),
        },
    )

__all__ = ["Engine", "EngineAnswer", "EngineRequest", "Service", "ServiceLimits", "listen", "make_app", "serve"]
