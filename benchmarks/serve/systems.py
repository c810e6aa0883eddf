"""Start and memory of the service with several systems, in one process and in several.

    python -m benchmarks.serve.systems SYSTEM --text test.src --systems 1 10 --processes 1 2

The systems are copies of SYSTEM, so that no two share a file. Each service gets a sentence of the text for each system. The
start is the time until the service listens, and its processor time. Memory is that of one process, after the start and
after the requests: resident, which includes all mapped pages of files; PSS, which divides shared pages among the processes
that map them; and private, which each further process adds.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import itertools
import json
import re
import shutil
import string
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks._measure import existing_path, print_rows
from benchmarks.serve.program import Program, serving

KINDS = ("Rss", "Pss", "Private_Clean", "Private_Dirty")


def mib(program: Program) -> dict[str, float]:
    """Resident, proportional and private memory of a process."""
    text = Path(f"/proc/{program.process.pid}/smaps_rollup").read_text(encoding="utf-8")
    rss, pss, clean, dirty = (int(re.search(rf"^{kind}:\s+(\d+)", text, re.MULTILINE)[1]) / 1024 for kind in KINDS)  # type: ignore[index]
    return {"resident MiB": rss, "PSS MiB": pss, "private MiB": clean + dirty}


def translate(program: Program, pair: str, line: str) -> None:
    """One request for a system."""
    connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=120)
    source, target = pair.split("-")
    body = json.dumps({"text": line, "source": source, "target": target}).encode()
    connection.request("POST", "/v1/translate", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    if response.read() and response.status != 200:
        raise SystemExit(f"status {response.status}")
    connection.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("system", metavar="SYSTEM", type=existing_path)
    parser.add_argument("--text", type=existing_path, required=True, help="sentences for SYSTEM")
    parser.add_argument("--systems", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    lines = options.text.read_text(encoding="utf-8").splitlines()[: max(options.systems)]
    letters = itertools.product(string.ascii_lowercase, repeat=2)
    pairs = ["-".join((f"{a}{b}", "en")) for a, b in itertools.islice(letters, max(options.systems))]
    rows = []
    with TemporaryDirectory() as folder:
        for pair in pairs:
            shutil.copytree(options.system, Path(folder, pair))
        for n, n_processes in itertools.product(options.systems, options.processes):
            with contextlib.ExitStack() as stack:
                programs = []
                for number in range(n_processes):
                    started = time.perf_counter()
                    systems = [f"{pair}={Path(folder, pair)}" for pair in pairs[:n]]
                    programs.append(stack.enter_context(serving([*systems, "--quiet"], Path(folder, f"log{number}"))))
                    seconds = time.perf_counter() - started
                row = {"systems": n, "processes": n_processes, "start s": seconds}
                row["processor s"] = programs[-1].processor_seconds()
                row |= mib(programs[-1])
                for program, (pair, line) in itertools.product(programs, zip(pairs[:n], lines, strict=False)):
                    translate(program, pair, line)
                rows.append(row | {f"{name} after": value for name, value in mib(programs[-1]).items()})
    print_rows(rows)


if __name__ == "__main__":
    main()
