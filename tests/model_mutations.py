"""Damaged and forged model files: bytes changed, arrays and settings of any content under valid checksums."""

import io
import json
import zipfile

import numpy as np

NUMBERS = (0, -1, 1, 2**31, 2**62, -(2**40), 1e-300, 1e300, float("nan"), float("inf"), True, None, "x", [], {}, [[1]])


def mutated(rng, content):
    """Return the bytes of a model file with something changed, or an array or a setting in it."""
    kind = rng.integers(0, 5)
    return (_bytes_changed, _bytes_changed, array_changed, array_changed, setting_changed)[kind](rng, content)


def _bytes_changed(rng, content):
    data = bytearray(content)
    how = rng.integers(0, 4)
    place = int(rng.integers(0, len(data)))
    if how == 0:
        return bytes(data[:place])
    if how == 1:  # the directory at the end says what is where, and how large
        place = len(data) - 1 - int(rng.integers(0, min(len(data), 600)))
    for k in range(int(rng.integers(1, 5))):
        data[(place + k) % len(data)] = int(rng.choice([0, 1, 127, 128, 255]))
    return bytes(data) if how < 3 else bytes(data) + data[:place]


def array_changed(rng, content):
    arrays = read(content)
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name]
    how = rng.integers(0, 8)
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays["spare" if rng.random() < 0.5 else "words spare"] = np.zeros(10**6)
    elif how == 2:
        arrays[name] = array.astype(rng.choice(["f8", "i8", "u1", "U3"])) if array.dtype.kind in "fiu" else array
    elif how == 3:
        arrays[name] = array[..., None] if rng.random() < 0.5 else array.reshape(-1)
    elif how == 4 and array.size:
        arrays[name] = array.reshape(-1)[: int(rng.integers(0, array.size))]
    elif how == 5:
        arrays[name] = np.zeros(200_000, array.dtype) if array.dtype.kind in "fiu" else array
    elif array.size and array.dtype.kind in "fiu":
        flat = array.reshape(-1).copy()
        values = [0, 1, -1, 2**31 - 1, -(2**31), 77] if array.dtype.kind == "i" else [np.nan, np.inf, -np.inf, 3e38, 0]
        places = rng.integers(0, flat.size, int(rng.integers(1, 4)))
        with np.errstate(all="ignore"):
            flat[places] = np.array(rng.choice(values, len(places))).astype(flat.dtype)
        arrays[name] = flat.reshape(array.shape)
    return written(arrays)


def setting_changed(rng, content):
    arrays = read(content)
    name = "about" if "about" in arrays else "header"
    text = str(arrays[name]) if name == "about" else arrays[name].tobytes().decode()
    try:
        settings = json.loads(text)
    except ValueError:
        return content
    _change(rng, settings)
    text = json.dumps(settings)
    arrays[name] = np.array(text) if name == "about" else np.frombuffer(text.encode(), np.uint8)
    return written(arrays)


def _change(rng, settings):
    """Change one entry anywhere in nested dicts and lists."""
    places = list(settings) if isinstance(settings, dict) else list(range(len(settings)))
    place = places[rng.integers(0, len(places))]
    inner = settings[place]
    if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
        _change(rng, inner)
    elif rng.random() < 0.1:
        del settings[place]
    else:
        settings[place] = NUMBERS[rng.integers(0, len(NUMBERS))]


def read(content):
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def written(arrays):
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def with_member(content, name, data):
    """Return an archive with one more member, or another one of a name."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            if member.filename != name:
                new.writestr(member.filename, old.read(member))
        new.writestr(name, data)
    return file.getvalue()
