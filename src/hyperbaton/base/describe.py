"""Descriptions of artefacts from their manifests: kind, options, counts, weights, sizes and inputs."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike

from hyperbaton.base.forms import JsonObject
from hyperbaton.base.store import Artefact, read_artefact


def describe(path: str | PathLike[str]) -> JsonObject:
    """Describe an artefact and those inside it as plain values, with sizes in MiB; no array is read."""
    return read_artefact(path, None, _described)


def _described(artefact: Artefact) -> JsonObject:
    manifest, details = artefact.manifest, dict(artefact.details)
    weights = details.pop("weights") if isinstance(details.get("weights"), dict) else {}
    arrays = {
        name: {"dtype": entry["dtype"], "shape": entry["shape"], "mib": artefact[name].nbytes / 2**20}
        for name, entry in manifest["arrays"].items()
    }
    parts = {name: describe(artefact.part(name)) for name in manifest["parts"]}
    return {
        "path": str(artefact.path),
        "kind": artefact.kind,
        "version": manifest["version"],
        "mib": sum([*(array["mib"] for array in arrays.values()), *(part["mib"] for part in parts.values())]),
        "seed": manifest["seed"],
        "options": dict(artefact.options),
        "details": details,
        "weights": weights,
        "inputs": dict(manifest["inputs"]),
        "arrays": arrays,
        "parts": parts,
    }


def description_rows(description: JsonObject, *, arrays: bool = False, part: str = "") -> list[dict[str, str]]:
    """A description as rows of part, group, name and value, for a table, with a row for each array if `arrays` is set."""
    size = f"{description['mib']:.1f} MiB in {len(description['arrays'])} arrays"
    if description["parts"]:
        size += f", with those of {', '.join(description['parts'])}"
    about: dict[str, object] = {
        "kind": description["kind"],
        "path": description["path"],
        "made by": f"hyperbaton {description['version']}",
        "size": size,
    }
    if description["seed"] is not None:
        about["seed"] = description["seed"]
    groups: dict[str, Mapping[str, object]] = {
        "about": about,
        "detail": _flat(description["details"]),
        "weight": description["weights"],
        "option": _flat(description["options"]),
        "input": description["inputs"],
    }
    if arrays:
        groups["array"] = {
            name: f"{entry['dtype']} {'×'.join(map(str, entry['shape']))}, {entry['mib']:.2f} MiB"
            for name, entry in description["arrays"].items()
        }
    rows = [
        {"part": part, "group": group, "name": name, "value": _text(value)}
        for group, items in groups.items()
        for name, value in items.items()
    ]
    for name, inside in description["parts"].items():
        rows += description_rows(inside, arrays=arrays, part=f"{part}/{name}" if part else name)
    return rows


def _flat(items: dict[str, object]) -> dict[str, object]:
    """Nested items with dotted names."""
    flat: dict[str, object] = {}
    for name, value in items.items():
        if isinstance(value, list) and any(isinstance(item, dict | list) for item in value):
            value = {str(i): item for i, item in enumerate(value)}
        if isinstance(value, dict):
            flat |= {f"{name}.{inner}": item for inner, item in _flat(value).items()}
        elif value != []:
            flat[name] = value
    return flat


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value))
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    return f"{value:g}" if isinstance(value, float) else str(value)
