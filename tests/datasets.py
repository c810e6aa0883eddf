"""mtdata with a short index, whose addresses lead to a file server of this process."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from hyperbaton.data.datasets import Catalogue, _without_its_manners

# An empty index in mtdata's format: its own takes a minute to make.
EMPTY_INDEX = b"cmtdata.index\nIndex\n(tR."


class FileServer:
    """Files by path on a port of 127.0.0.1, and how often each was asked for."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files, self.requests = files, Counter[str]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.requests[self.path] += 1
                content = outer.files.get(self.path)
                self.send_response(404 if content is None else 200)
                self.send_header("Content-Length", str(len(content or b"")))
                self.end_headers()
                self.wfile.write(content or b"")

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def __enter__(self) -> FileServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def zipped(files: Mapping[str, str]) -> bytes:
    """An archive as OPUS has them."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return content.getvalue()


def tarred(files: Mapping[str, str]) -> bytes:
    """An archive as KFTT is one."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            archive.addfile(member, io.BytesIO(text.encode()))
    return content.getvalue()


def gzipped(text: str) -> bytes:
    return gzip.compress(text.encode())


def make_index(cache: Path, opus: str) -> Catalogue:
    """The catalogue with mtdata's own entries of KFTT and WMT, and of OPUS those in lines like those of mtdata's list."""
    cache.mkdir(parents=True, exist_ok=True)
    with _without_its_manners():
        import mtdata

        mtdata.cached_index_file = cache / "index.pkl"
        mtdata.cached_index_file.write_bytes(EMPTY_INDEX)
    catalogue = Catalogue()
    from mtdata.index import INDEX as index
    from mtdata.index import other, statmt
    from mtdata.index.opus import opus_index

    index.entries.clear()
    (cache / "opus.tsv").write_text(opus, encoding="utf-8")
    usual, opus_index.data_file = opus_index.data_file, cache / "opus.tsv"
    try:
        for module in (other, statmt, opus_index):
            module.load_all(index)
    finally:
        opus_index.data_file = usual
    return catalogue


@contextlib.contextmanager
def served(files: Mapping[str, bytes]) -> Iterator[FileServer]:
    """Lead every address of the index to a server of these files, by their paths."""
    import mtdata.index

    with FileServer(files) as server:
        for entry in mtdata.index.INDEX.entries.values():
            if isinstance(entry.url, str):
                entry.url = f"{server.address}/{entry.url.partition('://')[2].partition('/')[2]}"
        yield server
