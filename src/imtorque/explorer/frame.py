"""The binary format of answers with several arrays: a length, a JSON head that names them, then their bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

ALIGNMENT = 8  # derived: typed arrays of up to 8 bytes an element view the answer without a copy


def pack(head: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return the head and the arrays as bytes, little-endian.

    The first four bytes are the length of the JSON text that follows, padded with blanks. Its "arrays" gives for each
    name the dtype, the shape and where the bytes start, counted from the end of the text.
    """
    parts, entries, start = [], {}, 0
    for name, array in arrays.items():
        flat = np.ascontiguousarray(array)
        little = flat.astype(flat.dtype.newbyteorder("<"), copy=False)
        entries[name] = {"dtype": little.dtype.name, "shape": list(little.shape), "start": start}
        padding = b"\0" * (-little.nbytes % ALIGNMENT)
        parts += [little.tobytes(), padding]
        start += little.nbytes + len(padding)
    text = json.dumps({**head, "arrays": entries}, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % ALIGNMENT)
    return b"".join([len(text).to_bytes(4, "little"), text, *parts])
