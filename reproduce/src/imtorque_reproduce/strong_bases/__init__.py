"""The experiment strong_bases."""
