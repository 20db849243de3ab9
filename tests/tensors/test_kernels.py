"""The CUDA kernels compile, also where there is no card: NVRTC comes with torch. On a card they are compared too."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import imtorque.torch as tensors
from imtorque.torch import _cuda, _extrema, _images, _layouts, _nvrtc, _strongest
from imtorque.torch._patches import boxes_for

ROOT = Path(__file__).resolve().parents[2]
LAYOUTS = [
    (("tables.cu", *files), fit.macros)
    for files in (("walk.cu", "maps.cu"), ("search.cu",))
    for fit in (_layouts.layout(64, 7, 45, 16), _layouts.layout(32, 4, 13, 8))
]
VOLUMES = [
    (("tables.cu", "walk.cu", "volume.cu"), _layouts.VolumeLayout(64, 45, shape).macros)
    for shape in (*_layouts.TILES, _layouts.COLUMN_SHAPES[0])
]
MODULES = [
    *LAYOUTS,
    *VOLUMES,
    (("smooth.cu",), (("RADIUS", 6),)),
    *(
        ((file,), ())
        for file in ("adjoint.cu", "canny.cu", "far.cu", "hysteresis.cu", "peaks.cu", "prefix.cu", "statistics.cu")
    ),
]


def has_compiler():
    try:
        _nvrtc._nvrtc()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_compiler(), reason="needs NVRTC, which comes with torch for CUDA")
@pytest.mark.parametrize(("files", "macros"), MODULES, ids=lambda part: "-".join(str(p) for p in part))
def test_every_kernel_compiles(files, macros):
    assert len(_nvrtc.compile_source(files, macros, (9, 0))) > 1000


@pytest.mark.skipif(not has_compiler(), reason="needs NVRTC, which comes with torch for CUDA")
def test_an_error_of_the_compiler_is_shown():
    with pytest.raises(RuntimeError, match=r"maps.cu must compile for .* got: .*identifier"):
        _nvrtc.compile_source(("maps.cu",), (), (9, 0))


def test_all_sources_are_compiled_here():
    assert {file for files, _ in MODULES for file in files} == {
        path.name for path in (ROOT / "src/imtorque/torch/kernels").iterdir()
    }


def test_shared_memory_holds_the_tables_of_common_cards():
    limits = {"H100": 232448, "A100": 166912, "RTX 4090": 101376}
    assert _layouts.fitting_layout(45, limits["H100"]) == _layouts.layout(64, 7, 45, 16)
    assert _layouts.fitting_layout(45, limits["A100"])
    assert _layouts.fitting_layout(29, limits["RTX 4090"])
    assert _layouts.fitting_layout(45, limits["RTX 4090"]) is None


def test_the_volume_has_a_layout_wherever_the_maps_have_one():
    for reach in _layouts.REACHES:
        for limit in range(48 * 1024, 240 * 1024, 1024):
            volume = _layouts.fitting_volume(reach, limit)
            assert volume or not _layouts.fitting_layout(reach, limit)
            assert not volume or volume.threads <= 1024


def test_bands_cover_the_image_and_keep_the_processors_busy():
    for height, strips in ((1080, 31), (2160, 61), (50, 1), (1080, 248)):
        rows = _layouts.rows_per_band(height, strips, 28, 45, 132)
        bands = -(-height // rows)
        assert 1 <= rows <= height
        assert strips * bands >= min(100, strips * (height // 28))


def test_sums_are_called_narrow_only_where_they_fit():
    boxes = boxes_for([3, 3, 91, 91], 2.0, 500, 500)
    mass = 2.0 * 128 * 128  # every pixel pulls as hard as it can
    assert _cuda.narrow_count(boxes, [mass / 16, mass / 4, mass / 2, mass], 4096.0) == 1
    assert _cuda.narrow_count(boxes, [0.1 * mass] * 4, 4096.0) == 2


def test_the_range_of_bytes_follows_from_the_highest_alone():
    found = np.reshape(_images._byte_scales(), (256, 2))
    for low, high in ((0, 0), (0, 1), (1, 1), (3, 7), (0, 100), (99, 100), (0, 255), (255, 255)):
        image = torch.tensor([low, high], dtype=torch.uint8).view(1, 1, 1, 2)
        ((black, white),) = _images.ranges_of(image, _images.bounds_of(image), None)
        assert found[high].tolist() == [black, 1 / (white - black)]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([-1, 0, 1, 5, 50]))
def test_the_strongest_on_the_host_are_those_on_a_device(seed, number, count):
    rng = np.random.default_rng(seed)
    places = rng.choice(2 * 3 * 4 * 5, number, replace=False)
    value = rng.choice(np.float32([-2, -1, 1, 2, 2.5]), number)
    columns = np.unravel_index(places, (2, 3, 4, 5))
    rows = np.stack([*columns, rng.random(number) < 0.7, value.view(np.int32)], 1).astype(np.int32)
    tensors_ = [torch.from_numpy(column).long() for column in rows.T]
    found = _extrema.Found(*tensors_[:4], tensors_[4] > 0, torch.from_numpy(value))
    wanted = _extrema.table_of(found, 2, count, 3, (4, 5))
    assert_array_equal(_strongest.table_of(rows, 2, count, 3, (4, 5)), wanted)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_card_gives_the_same_bits():
    forces = torch.randn(2, 2, 150, 170, generator=torch.Generator().manual_seed(0))
    for sizes in (range(3, 92, 2), [3, 9, 101], [(3, 5), (9, 7)]):
        found = tensors.value_and_scale_maps(forces.cuda(), sizes, exact=True)
        for tensor, wanted in zip(found, tensors.value_and_scale_maps(forces, sizes, exact=True), strict=True):
            assert_array_equal(tensor.cpu(), wanted)


def test_the_benchmark_runs_without_the_native_module():
    code = (
        "import sys; sys.meta_path = [f for f in sys.meta_path if 'ditable' not in type(f).__name__]; "
        "sys.path.insert(0, 'benchmarks'); import torch_gpu; print(torch_gpu.load_torch_part().__name__)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "imtorque.torch"


@pytest.mark.parametrize(("system", "name"), [("win32", "nvcuda.dll"), ("linux", "libcuda.so.1")])
def test_the_driver_has_the_systems_name(monkeypatch, system, name):
    monkeypatch.setattr(_nvrtc.sys, "platform", system)
    monkeypatch.setattr(_nvrtc.ctypes, "CDLL", lambda library: library)
    assert _nvrtc._driver.__wrapped__() == name


def test_on_windows_the_compiler_is_that_of_torch(monkeypatch, tmp_path):
    (tmp_path / "torch" / "lib").mkdir(parents=True)
    (tmp_path / "torch" / "lib" / "nvrtc64_120_0.dll").touch()
    monkeypatch.setattr(_nvrtc.sys, "platform", "win32")
    monkeypatch.setattr(_nvrtc.torch, "__file__", str(tmp_path / "torch" / "__init__.py"))
    monkeypatch.setattr(_nvrtc.torch.version, "cuda", "12.4")
    assert [path.rsplit("/", 1)[1] for path in _nvrtc._nvrtc_paths()] == ["nvrtc64_120_0.dll"]
