from __future__ import annotations

import sys
from typing import Annotated

from hyperbaton.base.errors import import_failure
from hyperbaton.cli._common import say, verify_artefacts
from hyperbaton.cli._parameters import READS, READS_NAMED, Argument, Flag, Verify
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.serve.options import ServiceLimits

SERVE_MODULES = "starlette uvicorn h11 msgspec prometheus_client python_multipart docx"


def serve(
    systems: Annotated[
        list[str] | None, Argument("SYSTEMS", "Systems; PAIR=DIR names the languages, as in ja-en=system."), READS_NAMED
    ] = None,
    *,
    aligner: Annotated[str | None, Flag("Aligner of 'hyperbaton align --save-model', for /v1/align."), READS] = None,
    host: Annotated[str, Flag("Address to listen at; 0.0.0.0 lets other machines in.", metavar="ADDRESS")] = "127.0.0.1",
    port: Annotated[int, Flag("Port; 0 chooses a free one.", minimum=0, maximum=65535)] = 8080,
    keys: Annotated[str | None, Flag("File of API keys, one per line; every request needs one of them."), READS] = None,
    cors: Annotated[
        list[str] | None, Flag("Origin of pages that may send requests, or *; may be repeated.", metavar="ORIGIN")
    ] = None,
    allowed_host: Annotated[
        list[str] | None,
        Flag("Name of the service for clients, besides localhost and addresses; may be repeated.", metavar="NAME"),
    ] = None,
    log_texts: Annotated[bool, Flag("Include the text of requests in the log.")] = False,
    limits: ServiceLimits,
    verify: Verify = False,
    common: ThreadOptions,
) -> None:
    """Translate over HTTP with the interfaces of LibreTranslate, DeepL and Moses' server, and a page to try it.

    Systems are loaded once. Waiting requests are translated together; results equal those of 'hyperbaton translate'.
    SIGTERM and Ctrl-C finish accepted requests, then the program ends. SIGHUP opens new versions of the systems.

    Examples:

        hyperbaton serve system
        hyperbaton serve ja-en=kyoto zh-en=laws --keys keys.txt --port 9000
    """
    try:
        from hyperbaton.serve.app import make_app
    except ImportError as error:
        raise import_failure(error, "a library of the web service", "serve", SERVE_MODULES) from error
    from hyperbaton.align.aligners.hmm import Aligner
    from hyperbaton.serve.engine import Engine
    from hyperbaton.serve.guard import Keys
    from hyperbaton.serve.server import listen
    from hyperbaton.serve.server import serve as answer
    from hyperbaton.serve.service import Service

    named = systems or []
    verify_artefacts(verify, *(name.rpartition("=")[2] for name in named), *([aligner] if aligner else []))
    links = None if aligner is None else Aligner.load(aligner)
    each = max(1, common.n_threads // limits.workers)
    engines = [Engine.load(name, threads=each, aligner=links) for name in named]
    service = Service(
        engines,
        limits,
        keys=None if keys is None else Keys.read(keys),
        aligner=links,
        log=None if common.quiet else _log,
        log_texts=log_texts,
    )
    socket = listen(host, port)
    address = f"http://{host}:{socket.getsockname()[1]}"
    pairs = ", ".join(engine.pair for engine in engines)

    def reload() -> None:
        for line in service.reload(aligner, lambda path: verify_artefacts(verify, path)):
            say(line)

    app = make_app(service, cors=cors or [], hosts=[host, *(allowed_host or [])])
    answer(app, [socket], limits, lambda: say(f"listening at {address} ({pairs})"), reload)
    say("stopped", common.quiet)


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
