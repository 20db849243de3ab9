"""The experiment counting."""
