"""How much each constant of a detector decides."""
