"""The experiment recognition."""
