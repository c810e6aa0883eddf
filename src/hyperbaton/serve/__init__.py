"""A translation service over HTTP: systems loaded once, requests batched, with the interfaces of existing clients."""

from hyperbaton.base.lazy import TYPE_CHECKING, LazyNames

if TYPE_CHECKING:
    from hyperbaton.serve.app import make_app as make_app
    from hyperbaton.serve.engine import Engine as Engine
    from hyperbaton.serve.engine import EngineAnswer as EngineAnswer
    from hyperbaton.serve.engine import EngineRequest as EngineRequest
    from hyperbaton.serve.options import ServiceLimits as ServiceLimits
    from hyperbaton.serve.server import listen as listen
    from hyperbaton.serve.server import serve as serve
    from hyperbaton.serve.service import Service as Service

LazyNames(globals())
