"""The experiment boundary."""
