"""The experiment attention."""
