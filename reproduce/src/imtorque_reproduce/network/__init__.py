"""The network that finds boundaries: its boundaries, closed contours, and figures cut out by its edges."""
