"""The experiment detectors."""
