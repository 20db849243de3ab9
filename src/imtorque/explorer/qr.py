"""An address to take up with a phone's camera."""

from __future__ import annotations

import io

import segno

MOST_CHARACTERS = 800


def qr_image(text: str) -> bytes:
    """Return a text as a QR code, an SVG file in black on white."""
    if not 0 < len(text) <= MOST_CHARACTERS:
        raise ValueError(f"text must have 1 to {MOST_CHARACTERS} characters, got {len(text)}")
    file = io.BytesIO()
    segno.make_qr(text, error="m").save(file, kind="svg", scale=8, border=3, dark="#000", light="#fff")
    return file.getvalue()
