"""Results as images of bytes, without matplotlib: arrays in, arrays out, at any size."""
