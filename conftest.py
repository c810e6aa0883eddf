"""Modules that cannot be imported fail the tests, except those of an optional extra that is not installed."""

from __future__ import annotations

from importlib.util import find_spec

# By the library that they need: the only files that may be passed over.
OPTIONAL = {
    "torch": [
        "src/hyperbaton/learn/minimizers/_lbfgs_torch.py",
        "src/hyperbaton/models/jumps/torch_objective.py",
        "src/hyperbaton/models/networks/jumps.py",
        "src/hyperbaton/models/networks/orientations.py",
        "src/hyperbaton/models/networks/training.py",
    ],
    "starlette": ["src/hyperbaton/serve/*", "tests/unit/test_serve*.py"],
    "machine": ["src/hyperbaton/integrations/*", "tests/unit/test_sil_machine.py"],
}
collect_ignore_glob = [file for library, files in OPTIONAL.items() if find_spec(library) is None for file in files]
