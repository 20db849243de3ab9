"""Damage to files: bytes changed, cut out, doubled, or numbers put where lengths may stand."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib

NUMBERS = [0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1]
TEXTS = [b"nan", b"inf", b"-1", b"1e309", b"99999999999999999999", b"\xff\xfe", b"\0", b'"', b"\r", b",,,", b"%00"]
PNG = b"\x89PNG\r\n\x1a\n"


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file with one to eight damages; half of them with checksums as they should be."""
    if data[:2] == b"PK" and rng.random() < 0.7:
        return _inside_archive(data, rng)
    for _ in range(rng.choice([1, 1, 1, 2, 4, 8])):
        data = rng.choice(DAMAGES)(data, rng)
    return _checksummed(data) if data.startswith(PNG) and rng.random() < 0.5 else data


def _place(data: bytes, rng: random.Random) -> int:
    """Return a place in a file; headers are at the beginning, so that comes often."""
    return rng.randrange(min(len(data), 200) if rng.random() < 0.5 else len(data)) if data else 0


def _flip(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]


def _cut(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + (b"" if rng.random() < 0.5 else data[at + rng.randrange(1, 40) :])


def _double(data: bytes, rng: random.Random) -> bytes:
    at, length = _place(data, rng), rng.randrange(1, 60)
    return data[:at] + data[at : at + length] * rng.choice([2, 3, 50]) + data[at + length :]


def _number(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    number = rng.choice(NUMBERS) ^ rng.choice([0, 0, 1])
    form = rng.choice("HIQ")
    packed = struct.pack(rng.choice("<>") + form, number % 2 ** (8 * struct.calcsize(form)))
    return data[:at] + packed + data[at + len(packed) :]


def _text(data: bytes, rng: random.Random) -> bytes:
    at = _place(data, rng)
    return data[:at] + rng.choice(TEXTS) + data[at + rng.choice([0, 1, 3]) :]


def _move(data: bytes, rng: random.Random) -> bytes:
    first, second = sorted((_place(data, rng), _place(data, rng)))
    length = rng.randrange(1, 30)
    return data[:second] + data[first : first + length] + data[second + length :]


DAMAGES = [_flip, _flip, _cut, _double, _number, _number, _text, _move]


def _inside_archive(data: bytes, rng: random.Random) -> bytes:
    """Damage a file of an archive, and pack it again with its checksum."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError, ValueError, OSError):
        return _flip(data, rng)
    name = rng.choice(list(parts))
    for _ in range(rng.choice([1, 1, 3])):
        parts[name] = rng.choice(DAMAGES)(parts[name], rng)
    if rng.random() < 0.1:
        del parts[name]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return file.getvalue()


def _checksummed(data: bytes) -> bytes:
    """Return a PNG file whose parts have the checksums of what they hold."""
    found, at = [data[:8]], 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        part = data[at + 4 : at + 8 + length]
        found.append(data[at : at + 4] + part + struct.pack(">I", zlib.crc32(part)))
        at += 12 + length
    return b"".join(found)
