"""Results as pictures of bytes, without matplotlib: arrays in, arrays out, at any size."""
