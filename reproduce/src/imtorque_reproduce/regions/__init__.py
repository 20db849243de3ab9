"""The experiment regions."""
