"""Networks with random weights, of sizes that fill no panel of the core: models that need no training and no PyTorch."""

from __future__ import annotations

import numpy as np

from hyperbaton.align import Aligner
from hyperbaton.align.aligners.neural import Neural
from hyperbaton.corpus import Bitext
from hyperbaton.models.encoder import Encoder
from hyperbaton.models.encoder_orientation import OrientationEncoder

Arrays = dict[str, np.ndarray]
Shapes = dict[str, tuple[int, int]]
N_WORDS, N_LABELS = 30, 9


def jump_network(*, labels: bool = False, distances: bool = False, hidden: int = 10) -> Arrays:
    """The arrays of `encoder`."""
    state = 2 * hidden
    shapes = _sentence_shapes((N_WORDS, 7), (N_LABELS, 3) if labels else None, hidden) | {"bias": (1, state)}
    for name in ("query", "key"):
        shapes |= {f"{name}.weight": (hidden, state), f"{name}.bias": (1, hidden)}
    if distances:
        shapes |= {"from_distance.weight": (22, state), "from_distance.bias": (1, 22), "to_distance.weight": (22, state)}
    return _random(shapes)


def orientation_network(*, labels: bool = False, n_classes: int = 5, size: int = 9, n_lengths: int = 3) -> Arrays:
    """The arrays of `encoder_orientation`."""
    shapes = _sentence_shapes((N_WORDS, 7), (N_LABELS, 3) if labels else None, 10) | {
        "places.weight": (4 * size, 20),
        "places.bias": (1, 4 * size),
        "first": (12, size),
        "last": (12, size),
        "length": (n_lengths, size),
        "out.weight": (n_classes, size),
        "out.bias": (1, n_classes),
    }
    return _random(shapes)


def link_network(rows: Arrays, hidden: int = 5) -> Arrays:
    """The arrays of the aligner `neural`, for these rows of words and stems."""
    state, size, shapes = 2 * hidden, 6, {"mix": (2, 3)}
    for name, n_inputs, n_outputs in (("window", 2, 2), ("inner", 5, 8), ("outer", 8, 2)):
        shapes |= {f"{name}.weight": (n_outputs, 9 * n_inputs), f"{name}.bias": (1, n_outputs)}
    for side in ("source", "target"):
        n_words, n_stems = (int(rows[f"{side}.{part}"].max()) + 1 for part in ("words", "stems"))
        own = _sentence_shapes((n_words, 7), (n_stems, 3), hidden)
        own |= {"vector": (n_words, size), "stem_vector": (n_stems, size)}
        own |= {"key.weight": (state, state), "key.bias": (1, state), "null.weight": (1, state), "null.bias": (1, 1)}
        shapes |= {f"{side}.{name}": shape for name, shape in own.items()}
    return _random(shapes)


def _sentence_shapes(words: tuple[int, int], labels: tuple[int, int] | None, hidden: int) -> Shapes:
    """The layers that encode a sentence."""
    state, n_inputs = 2 * hidden, words[1] + (labels or (0, 0))[1]
    shapes = {"word": words, **({"label": labels} if labels else {})}
    shapes |= {"input.weight": (state, n_inputs), "input.bias": (1, state)}
    for name in (f"lstm.{layer}.{way}" for layer in range(2) for way in ("forward", "backward")):
        shapes |= {f"{name}.inputs": (4 * hidden, state), f"{name}.states": (4 * hidden, hidden)}
        shapes |= {f"{name}.bias": (1, 4 * hidden)}
    return shapes


def _random(shapes: Shapes) -> Arrays:
    rng = np.random.default_rng(1)
    return {name: rng.normal(scale=0.5, size=shape).astype(np.float16) for name, shape in shapes.items()}


def untrained_encoder(bitext: Bitext) -> Encoder:
    """The model `encoder`."""
    model = Encoder(threads=1)

    def fit(_: object) -> None:
        model.n_labels_, model.word_rows_ = 0, _rows(len(bitext.source.vocabulary), N_WORDS)
        model.take(jump_network(), [-1.0, -0.5])

    model._fit = fit
    return model.fit(bitext)


def untrained_orientations(bitext: Bitext) -> OrientationEncoder:
    """The model `encoder_orientation`."""
    model = OrientationEncoder(threads=1)

    def fit(_: object) -> None:
        arrays = orientation_network(n_classes=len(model.class_names), n_lengths=model.max_length)
        model.n_labels_, model.word_rows_ = 0, _rows(len(bitext.source.vocabulary), N_WORDS)
        model.target_rows_ = _rows(len(bitext.target.vocabulary), len(arrays["first"]))
        model.take(arrays, [-1.0, -0.5])

    model._fit = fit
    return model.fit(bitext)


def untrained_neural(bitext: Bitext) -> Neural:
    """The aligner `neural`: a hidden Markov model with random corrections."""
    aligner = Neural()
    Aligner.fit(aligner, bitext, threads=1)
    aligner.prepare(bitext, threads=1)
    aligner.take(link_network(aligner.rows_))
    return aligner


def _rows(n_words: int, n_rows: int) -> np.ndarray:
    return (np.arange(n_words) % n_rows).astype(np.int32)
