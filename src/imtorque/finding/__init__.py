"""Find objects: where they are, how large, their outlines; learned from a few examples."""

from imtorque.finding.finder import FoundObjects, ObjectFinder

__all__ = ["FoundObjects", "ObjectFinder"]
