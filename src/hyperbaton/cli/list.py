from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from typing import Annotated, Any

from hyperbaton.base.registry import Registry
from hyperbaton.cli._common import print_table
from hyperbaton.cli._parameters import Argument, Json

# The registry of each kind; only the requested one is imported.
KINDS: Mapping[str, str] = {
    "aligners": "align:ALIGNERS",
    "features": "features:FEATURES",
    "learners": "learn:LEARNERS",
    "metrics": "metrics:METRICS",
    "minimizers": "learn.minimizers:MINIMIZERS",
    "models": "models:MODELS",
    "optimizers": "tune:OPTIMIZERS",
    "orientations": "phrases:ORIENTATIONS",
    "smoothings": "phrases.smoothing:SMOOTHINGS",
    "styles": "data.style:STYLES",
    "taggers": "corpus.taggers:TAGGERS",
    "tokenizers": "corpus.tokenizers:TOKENIZERS",
}


def registry_of(kind: str) -> Registry[Any]:
    return pkgutil.resolve_name(f"hyperbaton.{KINDS[kind]}")


def list_(
    kind: Annotated[str, Argument("KIND", "What to list.", choices=tuple(KINDS))],
    as_json: Json = False,
) -> None:
    """List the models, learners, feature sets, metrics or other plug-ins.

    Their options are written after the name, NAME:OPTION=VALUE. Of the orientation sets, Moses' are word-based; put
    `phrase-` or `hier-` before the name for phrase-based and hierarchical ones. Any increasing list of cut points, such as
    -4,0,1,5, is an orientation set too.

    Examples:

        hyperbaton list models
        hyperbaton list metrics --json
    """
    registry = registry_of(kind)
    rows = [{"name": name, "about": registry.describe(name)} for name in registry]
    if kind == "orientations":
        rows = [
            {"name": row["name"], "classes": ", ".join(registry[row["name"]]().names), "about": row["about"]}
            for row in rows
        ]
    print_table(rows, as_json)
