"""Files: decoding, TIFF, stacks, URLs, array archives, atomic writes."""
