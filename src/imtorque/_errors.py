"""What went wrong, in one line."""

from __future__ import annotations

EXPECTED = (OSError, TypeError, ValueError)  # what says by itself what is wrong


def describe_error(error: BaseException) -> str:
    """Say in one line what went wrong, with the name of the file where the error knows it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return text or "not enough memory"
    return text if text and isinstance(error, EXPECTED) else f"{type(error).__name__}: {text}".removesuffix(": ")
