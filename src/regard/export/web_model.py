"""One model as a file for the browser: graphs, tokenizers and settings, with its matrices as int8."""

import gzip
import json
import re
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from regard.bundle.int8 import quantise as quantise_weights
from regard.bundle.int8 import restore
from regard.bundle.onnx_manifest import ALIGNMENT, DECODER, ENCODER
from regard.bundle.store import Bundle
from regard.export.graph_state import is_shared
from regard.export.graph_weights import Weights, quantise
from regard.export.write_folder import build_graphs
from regard.runtime.guided import guided_head, guided_shift
from regard.runtime.translator import Translator

CLOSE = 1e-6
"""Relative error of a matrix restored from int8: what its own scale rounds differently."""
_ESCAPED = {b"\\": rb"\\", b'"': rb"\"", b"\n": rb"\n", b"\r": rb"\r"}


@dataclass(frozen=True)
class StoredTensors:
    """The float32 data that the graphs refer to, in fewer bytes; `index` says how to restore it."""

    index: list[dict[str, int]]
    data: bytes
    restored_bytes: int


def rounded(bundle: Bundle) -> Bundle:
    """The same bundle with the weights that int8 can hold: what a page in the browser computes with, in float32."""
    model = deepcopy(bundle.model).float()
    model.load_state_dict(restore(quantise_weights(model.state_dict())))
    return replace(bundle, model=model)


def pack_model(bundle: Bundle, about: dict[str, Any]) -> bytes:
    """The content of a model's file; `about` is what the page says about it."""
    model = rounded(bundle).model
    weights = Weights()
    graphs = build_graphs(model, weights, trace=True)
    state = [output.name for output in graphs[ENCODER].graph.output]
    parts = {
        "encoder": graphs[ENCODER].SerializeToString(),
        "decoder": graphs[DECODER].SerializeToString(),
        "source": _compact(bundle.source.data),
        "target": _compact(bundle.target.data),
    }
    places, data = {}, b""
    for name, content in parts.items():
        places[name] = [len(data), len(data) + len(content)]
        data += content
    data += b"\0" * (-len(data) % ALIGNMENT)
    tensors = store(weights, len(data))
    settings = {
        "about": about,
        "search": Translator(bundle).search_config({}).model_dump(),
        "source_eos": bundle.manifest.source_eos,
        "longest_source": bundle.longest_source,
        "most_pieces": model.config.most_pieces,
        "head": guided_head(bundle),
        "shift": guided_shift(bundle),
        "shared": [name for name in state if is_shared(name)],
        "target_vocabulary": len(bundle.target),
    }
    header = _json({"settings": settings, "parts": places, "tensors": tensors.index,
                    "weight_bytes": tensors.restored_bytes})  # fmt: skip
    return len(header).to_bytes(4, "little") + header + data + tensors.data


def store(weights: Weights, offset: int) -> StoredTensors:
    """int8 where that restores the tensor; else float32. `offset` is the place of the data in its file."""
    index: list[dict[str, int]] = []
    data, end = bytearray(), 0
    for array in weights.arrays.values():
        end += -end % ALIGNMENT
        place = {"to": end, "at": offset + len(data)}
        end += array.nbytes
        if array.ndim == 2 and _restores(array):
            integers, scales = quantise(array)
            index.append({**place, "rows": array.shape[0], "columns": array.shape[1]})
            data += integers.tobytes() + scales.tobytes()
        else:
            index.append({**place, "numbers": array.size})
            data += np.ascontiguousarray(array, dtype="<f4").tobytes()
    return StoredTensors(index, bytes(data), end)


def _restores(array: np.ndarray) -> bool:
    """False for a part of a matrix whose row had its scale from the other part."""
    integers, scales = quantise(array)
    return bool(np.allclose(integers * scales[:, None], array, rtol=CLOSE, atol=0))


def as_script(data: bytes) -> bytes:
    """Compressed bytes as a string in a script.

    A page opened from a disk cannot fetch files, but it can load scripts. The bytes stand in the string as they are
    (windows-1252 has a character for each), so the script is 2 % longer than the data, not a third as with base64.
    """
    packed = gzip.compress(data, 9, mtime=0)
    return b'regardFile("' + re.sub(rb'[\\"\n\r]', lambda found: _ESCAPED[found[0]], packed) + b'")\n'


def _compact(tokenizer: bytes) -> bytes:
    return _json({key: value for key, value in json.loads(tokenizer).items() if key in ("config", "tokenizer")})


def _json(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode()
