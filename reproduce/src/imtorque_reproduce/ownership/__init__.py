"""The experiment ownership."""
