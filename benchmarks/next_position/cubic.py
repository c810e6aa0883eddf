"""Running sums compared with eq. 2 as printed, both in C++: seconds for objective and gradient of one sentence."""

from __future__ import annotations

import argparse
import ctypes
import os
import subprocess
import tempfile
from pathlib import Path

from benchmarks._measure import print_rows

HERE = Path(__file__).parent
N_FEATURES = 200_000
REPEATS = 100


def run(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "cubic.so"
        compiler = os.environ.get("CXX", "c++")
        flags = ["-std=c++20", "-O3", "-shared", "-fPIC", f"-I{HERE.parents[1] / 'core'}"]
        subprocess.run([compiler, *flags, str(HERE / "cubic.cc"), "-o", str(library)], check=True)
        compare = ctypes.CDLL(str(library)).compare
        compare.argtypes = [ctypes.c_size_t] * 3 + [ctypes.POINTER(ctypes.c_double)]
        rows = []
        for n in arguments.lengths:
            out = (ctypes.c_double * 5)()
            compare(n, N_FEATURES, REPEATS, out)
            if abs(out[2] - out[3]) > 1e-9 * abs(out[3]) or out[4] > 1e-9:
                raise SystemExit(f"the two forms differ at {n} words: {list(out)}")
            rows.append({"words": n, "running sums (s)": out[0], "eq. 2 as printed (s)": out[1], "ratio": out[1] / out[0]})
        print_rows(rows)
