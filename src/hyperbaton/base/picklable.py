"""Objects that can be pickled and copied, as joblib, Dask and multiprocessing do; artefacts are never pickles."""

from __future__ import annotations

from functools import cached_property


class Picklable:
    """Leaves out cached properties, which may be objects of the core; they are computed again when asked for."""

    def __getstate__(self) -> dict[str, object]:
        kind = type(self)
        return {
            name: value for name, value in vars(self).items() if not isinstance(getattr(kind, name, None), cached_property)
        }
