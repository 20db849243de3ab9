"""The experiment figure_ground."""
