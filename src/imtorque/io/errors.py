"""What went wrong, in one line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

EXPECTED = (ImportError, OSError, TypeError, ValueError)  # what says by itself what is wrong


def describe_error(error: BaseException) -> str:
    """Say in one line what went wrong, with the name of the file where the error knows it."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        return text or "not enough memory"
    return text if text and isinstance(error, EXPECTED) else f"{type(error).__name__}: {text}".removesuffix(": ")


@contextmanager
def reading_file(
    name: str | os.PathLike[str],
    what: str,
    *,
    said: tuple[type[Exception], ...] = (),
    passed: tuple[type[Exception], ...] = (),
) -> Iterator[None]:
    """Say in one line, with its name, what is wrong with a file that must be `what`.

    Parameters
    ----------
    name, what
        Of the file.
    said
        Errors whose own text says what must hold: the name comes before it.
    passed
        Errors that are not for this to tell.
    """
    try:
        yield
    except passed:
        raise
    except FileNotFoundError:
        raise FileNotFoundError(f"{name}: no such file") from None
    except said as error:
        kind = type(error) if type(error) in said else ValueError
        raise kind(f"{name}: {' '.join(str(error).split())}") from None
    # Readers meet a damaged file with any of ValueError, KeyError, IndexError, EOFError, struct.error, zlib.error, ...
    except Exception as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())[:200] or type(error).__name__
        raise ValueError(f"{name}: must be {what}, got: {reason}") from error
