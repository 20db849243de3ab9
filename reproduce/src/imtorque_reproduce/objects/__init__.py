"""The experiment objects."""
