"""MATLAB files, read as scipy reads them and never worse than refused."""

import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.io import loadmat, savemat

from data_folder import data_folder
from imtorque.datasets import read_annotations
from imtorque.datasets.matlab import read_mat


def contents():
    cell = np.empty((2, 2), object)
    cell[...] = [[np.arange(6.0).reshape(2, 3), np.zeros((0, 0))], [np.ones((1, 1)), np.array([[1, 2]], np.uint16)]]
    person = {"Boundaries": np.eye(3, dtype=bool), "Segmentation": np.arange(9, dtype=np.uint16).reshape(3, 3)}
    return {
        "double": np.arange(12.0).reshape(3, 4),
        "volume": np.arange(24, dtype=np.int32).reshape(2, 3, 4),
        "truth": np.array([[True, False]]),
        "x": np.array([[7]], np.uint8),
        "complex": np.array([[1 + 2j, 3]]),
        "cell": cell,
        "struct": person,
        "text": "1001.jpg",
        "named": {"img": "Zürich.jpg", "x": np.ones((1, 2))},
        "lines": np.array(["left", "out "]),
        "last": np.float32([[1.5]]),
    }


def same(read, reference):
    assert read.shape == reference.shape
    if reference.dtype == object:
        for a, b in zip(read.ravel(), reference.ravel(), strict=True):
            same(a, b)
    elif reference.dtype.names:
        assert read.dtype.names == reference.dtype.names
        for name in reference.dtype.names:
            same(read[name], reference[name])
    else:
        assert read.dtype == reference.dtype
        assert_array_equal(read, reference)


@pytest.mark.parametrize("packed", [False, True])
def test_variables_are_those_that_scipy_reads(tmp_path, packed):
    savemat(tmp_path / "a.mat", contents(), do_compression=packed)
    read, reference = read_mat(tmp_path / "a.mat"), loadmat(tmp_path / "a.mat")
    assert set(read) == {name for name in reference if not name.startswith("__")} - {"lines"}
    for name, value in read.items():
        same(value, reference[name])


def test_a_published_ground_truth_is_read_as_scipy_reads_it():
    for path in sorted(data_folder("bsds500").rglob("*.mat"))[:3]:
        same(read_mat(path)["groundTruth"], loadmat(path)["groundTruth"])


@pytest.mark.parametrize("packed", [False, True])
def test_a_damaged_file_is_read_or_refused_in_one_line(tmp_path, packed):
    savemat(tmp_path / "a.mat", contents(), do_compression=packed)
    whole, rng, told = (tmp_path / "a.mat").read_bytes(), np.random.default_rng(0), set()
    path = tmp_path / "b.mat"
    for k in range(300):
        data = bytearray(whole)
        for place in rng.integers(100, len(whole), 3):
            data[place] = rng.integers(256)
        path.write_bytes(data[: rng.integers(len(whole))] if k % 3 == 0 else data)
        try:
            read_mat(path)
        except ValueError as error:
            told.add(str(error))
    assert len(told) > 3
    assert all("b.mat must be a readable .mat file: " in text and "\n" not in text for text in told)


def element(kind, data):
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def mat_file(*elements):
    return b" " * 124 + struct.pack("<H", 0x0100) + b"IM" + b"".join(elements)


def array(which, shape, name=b"a", content=b""):
    head = element(6, struct.pack("<II", which, 0)) + element(5, np.array(shape, "<i4").tobytes())
    return element(14, head + element(1, name) + content)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"MATLAB 5.0", "no MATLAB file of version 5 to 7"),
        (b"\x89HDF\r\n\x1a\n" + b" " * 200, "version 7.3; save it with -v7"),
        (mat_file(array(1, (2**20, 2**10))), "1073741824 entries in 0 bytes"),
        (mat_file(array(6, (2**15, 2**15), content=element(9, b"12345678"))), "cannot reshape"),
        (mat_file(array(6, (-1, 3), content=element(9, b""))), r"shape \(-1, 3\)"),
        (mat_file(struct.pack("<II", 14, 2**31)), "ends early"),
        (mat_file(element(15, zlib.compress(b"\0" * 4))), "ends early"),
    ],
)
def test_files_that_promise_more_than_they_hold_are_refused(tmp_path, content, message):
    (tmp_path / "a.mat").write_bytes(content)
    with pytest.raises(ValueError, match=f"a.mat must be a readable .mat file: .*{message}"):
        read_mat(tmp_path / "a.mat")


def test_numbers_in_the_other_byte_order_are_read(tmp_path):
    def part(kind, values):
        data = np.asarray(values).tobytes()
        return struct.pack(">II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    head = part(6, np.array([6, 0], ">u4")) + part(5, np.array([1, 2], ">i4"))
    name = struct.pack(">HH", 2, 1) + b"ab\0\0"  # a short element
    matrix = part(14, np.frombuffer(head + name + part(9, np.array([1.5, -2], ">f8")), np.uint8))
    (tmp_path / "a.mat").write_bytes(b" " * 124 + struct.pack(">H", 0x0100) + b"MI" + matrix)
    assert_array_equal(read_mat(tmp_path / "a.mat")["ab"], [[1.5, -2]])


def test_cells_within_cells_without_end_are_refused(tmp_path):
    nested = b""
    for _ in range(40):
        nested = array(1, (1, 1), content=nested)
    (tmp_path / "a.mat").write_bytes(mat_file(nested))
    with pytest.raises(ValueError, match="deeper than 16"):
        read_mat(tmp_path / "a.mat")


def test_a_variable_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("imtorque.datasets.matlab.MAX_VARIABLE_BYTES", 1000)
    savemat(tmp_path / "a.mat", {"a": np.zeros((50, 50))}, do_compression=True)
    with pytest.raises(ValueError, match="must unpack to at most 1000 bytes"):
        read_mat(tmp_path / "a.mat")


@pytest.mark.parametrize(("largest", "dtype"), [(65535, np.uint16), (65536, np.uint32), (2**32 - 1, np.uint32)])
def test_labels_do_not_wrap_round(tmp_path, largest, dtype):
    labels = np.array([[1, 2], [3, largest]], float)
    people = np.empty((1, 1), object)
    people[0, 0] = {"Boundaries": np.zeros((2, 2), bool), "Segmentation": labels}
    savemat(tmp_path / "a.mat", {"groundTruth": people})
    (read,) = read_annotations(tmp_path / "a.mat")
    assert read.segmentation.dtype == dtype
    assert_array_equal(read.segmentation, labels)


def test_labels_of_a_seg_file_do_not_wrap_round(tmp_path):
    (tmp_path / "a.seg").write_text("width 2\nheight 1\ndata\n0 0 0 0\n65535 0 1 1\n")
    (read,) = read_annotations(tmp_path / "a.seg")
    assert_array_equal(read.segmentation, [[1, 65536]])


@pytest.mark.parametrize("label", [0.5, -1.0, np.nan, 2.0**33])
def test_labels_that_are_none_are_refused(tmp_path, label):
    people = np.empty((1, 1), object)
    people[0, 0] = {"Boundaries": np.zeros((1, 2), bool), "Segmentation": np.array([[1, label]])}
    savemat(tmp_path / "a.mat", {"groundTruth": people})
    with pytest.raises(ValueError, match=r"a\.mat must hold Boundaries and Segmentation"):
        read_annotations(tmp_path / "a.mat")
