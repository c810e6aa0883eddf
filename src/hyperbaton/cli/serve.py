"""The command `serve`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from hyperbaton.base.errors import import_failure
from hyperbaton.cli import Verify
from hyperbaton.cli._common import say, verify_artefacts
from hyperbaton.cli._paths import READS, READS_NAMED
from hyperbaton.cli._resources import ThreadOptions
from hyperbaton.serve.options import ServiceLimits

HELP_GROUP = "Translate"


def serve(
    systems: Annotated[
        list[str] | None,
        typer.Argument(metavar="SYSTEMS", help="Systems; PAIR=DIR names the languages, as in ja-en=system."),
        READS_NAMED,
    ] = None,
    *,
    aligner: Annotated[
        str | None, typer.Option(help="Aligner of 'hyperbaton align --save-model', for /v1/align."), READS
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one.", min=0, max=65535)] = 8080,
    keys: Annotated[
        str | None, typer.Option(help="File of API keys, one per line; every request needs one of them."), READS
    ] = None,
    cors: Annotated[
        list[str] | None, typer.Option(help="Origin of pages that may call the service, or *; may be repeated.")
    ] = None,
    log_texts: Annotated[bool, typer.Option("--log-texts", help="Include the text of requests in the log.")] = False,
    limits: ServiceLimits,
    verify: Verify = False,
    common: ThreadOptions,
) -> None:
    """Translate over HTTP with the interfaces of LibreTranslate, DeepL and Moses' server, and a page to try it.

    Systems are loaded once. Waiting requests are translated together; results equal those of 'hyperbaton translate'.
    SIGTERM and Ctrl-C finish accepted requests, then the program ends. SIGHUP opens new versions of the systems.

    Examples:

        hyperbaton serve system

        hyperbaton serve ja-en=kyoto zh-en=laws --aligner aligner --keys keys.txt --port 9000
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise import_failure(error, "starlette with uvicorn", "serve", "starlette uvicorn") from error
    from hyperbaton.align.aligners.hmm import Aligner
    from hyperbaton.serve.app import make_app
    from hyperbaton.serve.engine import Engine
    from hyperbaton.serve.keys import Keys
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

    app = make_app(service, cors=cors or [])
    answer(app, [socket], limits, lambda: say(f"listening at {address} ({pairs})"), reload)
    say("stopped", common.quiet)


def _log(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
