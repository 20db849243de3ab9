"""The network that finds boundaries: its own boundaries and closed contours."""
