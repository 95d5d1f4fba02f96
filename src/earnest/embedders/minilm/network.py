"""Running all-MiniLM-L6-v2: a BERT encoder of six layers with 384 units and 12 heads, and the mean over a text's pieces of words.

Devlin et al., "BERT" (2019), for the network; Wang et al., "MiniLM" (2020), for the model; Reimers and Gurevych, "Sentence-BERT" (2019),
for the mean. Texts are not padded: all pieces of a batch pass through the linear layers together, and attention is taken over texts of
one length at a time, so that a text's vector hardly depends on its company.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from earnest.core.onethread import one_thread
from earnest.embedders.minilm.weights import Dense, Layer, Norm, Weights

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

UNITS: Final = 384
HEADS: Final = 12
_EPSILON: Final = 1e-12


def run(weights: Weights, texts: Sequence[Sequence[int]]) -> Matrix:
    """The mean over the pieces of each text, float32[len(texts), 384], not yet of unit length. A text has 1 to 512 pieces."""
    with one_thread():
        return _run(weights, texts)


def _run(weights: Weights, texts: Sequence[Sequence[int]]) -> Matrix:
    import numpy as np

    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    lengths = [len(texts[i]) for i in order]
    pieces = np.concatenate([np.asarray(texts[i], dtype=np.int64) for i in order])
    places = np.concatenate([np.arange(length) for length in lengths])
    state = weights.words[pieces] * weights.word_scales[pieces] + weights.positions[places]
    state = _normed(state, weights.norm)
    groups = _groups(lengths)
    for layer in weights.layers:
        state = _through(state, layer, groups)
    made = np.empty((len(texts), UNITS), np.float32)
    done = 0
    for start, count, length in groups:
        part = state[start : start + count * length].reshape(count, length, UNITS).mean(axis=1)
        made[order[done : done + count]] = part
        done += count
    return made


def _groups(lengths: Sequence[int]) -> list[tuple[int, int, int]]:
    """Runs of texts of one length: where their pieces begin, how many texts, how long each."""
    made: list[tuple[int, int, int]] = []
    start = 0
    for length in lengths:
        if made and made[-1][2] == length:
            made[-1] = (made[-1][0], made[-1][1] + 1, length)
        else:
            made.append((start, 1, length))
        start += length
    return made


def _through(state: Matrix, layer: Layer, groups: Sequence[tuple[int, int, int]]) -> Matrix:
    import numpy as np

    mixed = _dense(state, layer.mixed)
    context = np.empty_like(state)
    for start, count, length in groups:
        stop = start + count * length
        # [text, piece, query|key|value, head, unit] to three arrays of [text, head, piece, unit]
        parts = mixed[start:stop].reshape(count, length, 3, HEADS, UNITS // HEADS).transpose(2, 0, 3, 1, 4)
        scores = parts[0] @ parts[1].swapaxes(-1, -2)
        scores *= (UNITS // HEADS) ** -0.5
        scores -= scores.max(axis=-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(axis=-1, keepdims=True)
        context[start:stop] = (scores @ parts[2]).transpose(0, 2, 1, 3).reshape(count * length, UNITS)
    attended = _normed(_dense(context, layer.joined) + state, layer.joined_norm)
    widened = _gelu(_dense(attended, layer.widened))
    return _normed(_dense(widened, layer.narrowed) + attended, layer.narrowed_norm)


def _dense(state: Matrix, dense: Dense) -> Matrix:
    made: Matrix = state @ dense.weight
    made += dense.bias
    return made


def _normed(state: Matrix, norm: Norm) -> Matrix:
    centred = state - state.mean(axis=-1, keepdims=True)
    spread: Any = (centred * centred).mean(axis=-1, keepdims=True) + _EPSILON
    made: Matrix = centred / spread**0.5
    made *= norm.gain
    made += norm.offset
    return made


def _gelu(state: Matrix) -> Matrix:
    """x·Φ(x), with the error function by formula 7.1.26 of Abramowitz and Stegun (1964): off by at most 1.5e-7."""
    import numpy as np

    size = np.abs(state)
    size *= np.float32(0.7071067811865476)
    t = 1 / (1 + np.float32(0.3275911) * size)
    series = t * np.float32(1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series += np.float32(factor)
        series *= t
    size *= -size
    np.exp(size, out=size)
    # 0.5 · erfc(|x| / √2): what is left of the distribution beyond |x|
    series *= size
    series *= np.float32(0.5)
    made: Matrix = state * np.where(state >= 0, 1 - series, series)
    return made
