"""The image torque operator: how strongly the edges around each pixel circle it."""
