"""The experiment shapes."""
