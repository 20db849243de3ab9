"""The experiment patterns."""
