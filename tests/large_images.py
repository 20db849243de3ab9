"""What an image has in memory, beside what its tiles made of it."""

import json
import tempfile
from pathlib import Path

import numpy as np
import zarr
from numpy.testing import assert_array_equal
from pyarrow import csv, parquet

import imtorque
from imtorque.tiling import process_image

EDGES = ("sigma", "low", "high", "force", "directions", "strength_scale", "length_correction", "value_range")
ALL = ("value", "scale", "edges", "extrema", "blobs")
TORQUE = ("patch", "alpha", "pattern", "polarity")


def read_table(path):
    """A table that was written, as columns."""
    table = csv.read_csv(path) if path.suffix == ".csv" else parquet.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def assert_same_rows(path, extrema):
    rows = read_table(path)
    assert len(rows["y"]) == len(extrema)
    for column, expected in (("y", extrema.y), ("x", extrema.x), ("size", extrema.size), ("torque", extrema.value)):
        assert_array_equal(rows[column].astype(expected.dtype), expected, err_msg=column)


def assert_same_in_tiles(image, tile, sizes, source=None, **options):
    """Compare every output of an image in tiles with that of the functions for images in memory."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        process_image(image if source is None else source, out, sizes, ALL, tile=tile, jobs=1, **options)
        compare(out, image, sizes, **options)


def compare(out, image, sizes, **options):
    edges = imtorque.detect_edges(image, **{name: options[name] for name in EDGES if name in options})
    torque = {name: options[name] for name in TORQUE if name in options}
    maps = zarr.open_group(out / "maps.zarr", mode="r")
    assert_array_equal(maps["edges"][:], np.stack([edges.fx, edges.fy]))
    value, scale = imtorque.value_and_scale_maps(edges, sizes, **torque)
    assert_array_equal(maps["value"][:], value)
    assert_array_equal(maps["scale"][:], scale)
    extrema = imtorque.find_extrema(edges, sizes, **torque)
    assert_same_rows(out / "extrema.csv", extrema)
    strong = extrema[np.abs(extrema.value) >= 0.4]
    assert_same_rows(out / "blobs.csv", imtorque.suppress_overlaps(strong, 0.4))
    found = json.loads((out / "results.json").read_text())
    assert found["edge_pixels"] == np.count_nonzero(edges.mask)
    assert found["steps"] == edges.steps or not edges.mask.any()
