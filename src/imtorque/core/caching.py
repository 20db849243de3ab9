"""`functools.cached_property` as it is from Python 3.12 on: without a lock."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801  # the name of what it stands for
        """A property that is computed once for each instance.

        That of Python 3.11 holds one lock for all instances while it computes: a child forked meanwhile by another
        thread would wait for it forever.
        """

        def __init__(self, compute):
            """Take the function of a decorated method."""
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            """Take the name under which instances keep their value."""
            self._name = name

        def __get__(self, instance, owner=None):
            """Compute the value and keep it in the instance, where it shadows this property."""
            if instance is None:
                return self
            value = instance.__dict__[self._name] = self._compute(instance)
            return value


__all__ = ["cached_property"]
