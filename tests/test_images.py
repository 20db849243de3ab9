"""The door for images: whatever form a scene comes in, it is the same image."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.ndimage import gaussian_filter

import imtorque as it
from imtorque import saliency
from imtorque.core.resizing import fitted, shrunk
from imtorque.images import CheckedImage, grey_image, rgb_image, value_range
from imtorque.saliency.features import _halved, pyramid

SCALES = {
    "uint8": (255, np.uint8),
    "uint16": (65535, np.uint16),
    "10 bits in uint16": (1023, np.uint16),
    "12 bits in uint16": (4095, np.uint16),
    "14 bits in uint16": (16383, np.uint16),
    "8 bits in uint16": (255, np.uint16),
    "int8": (127, np.int8),
    "int16": (32767, np.int16),
    "8 bits in int16": (255, np.int16),
    "12 bits in int16": (4095, np.int16),
    "int32": (2**31 - 1, np.int32),
    "8 bits in int32": (255, np.int32),
    "16 bits in int32": (65535, np.int32),
    "uint32": (2**32 - 1, np.uint32),
    "8 bits in int64": (255, np.int64),
    "8 bits in uint64": (255, np.uint64),
    "big-endian uint16": (65535, ">u2"),
    "big-endian int32": (4095, ">i4"),
    "float 0-1": (1, np.float64),
    "float32 0-1": (1, np.float32),
    "float16 0-1": (1, np.float16),
    "big-endian float": (1, ">f8"),
    "float 0-255": (255, np.float32),
    "float 0-4095": (4095, np.float64),
    "float 0-65535": (65535, np.float64),
}

QUICK = ("uint16", "12 bits in int16", "big-endian int32", "float16 0-1", "float 0-255")  # one for each way of reading


def scene(seed=0, shape=(72, 96)):
    """A coloured scene of discs and squares on a ramp, darkest 0.05 and brightest 0.8, on 8-bit values."""
    rng = np.random.default_rng(seed)
    y, x = np.indices(shape)
    planes = np.full((*shape, 3), 0.25) + 0.05 * (x / shape[1])[:, :, None]
    planes[(y - 24) ** 2 + (x - 28) ** 2 < 13**2] = (0.8, 0.7, 0.3)
    planes[(y - 48) ** 2 + (x - 68) ** 2 < 15**2] = (0.05, 0.1, 0.3)
    planes[8:22, 60:78] = (0.6, 0.2, 0.2)
    soft = np.stack([gaussian_filter(plane, 0.8) for plane in np.moveaxis(planes, 2, 0)], axis=2)
    return np.round(255 * np.clip(soft + rng.normal(0, 0.004, soft.shape), 0, 0.85)) / 255


def stored(levels, form):
    """The scene, in parts of white, as one of the forms."""
    white, dtype = SCALES[form]
    values = levels * white
    return (values if np.dtype(dtype).kind == "f" else values.round()).astype(dtype)


FUNCTIONS = {
    "edges": lambda image: it.detect_edges(image).mask,
    "edges above a threshold": lambda image: it.detect_edges(image, low=0.01, high=0.03).mask,
    "edge strengths": lambda image: it.detect_edges(image, low=0.01, high=0.03, force="strength").strength,
    "gradient": lambda image: it.gradient_edges(image).fx,
    "gradient torque": lambda image: it.gradient_torque(image, [9]).tau,
    "edges from a map": lambda image: it.edges_from_map(np.ones(image.shape[:2]), image=image).fx,
    "strengthened edges": it.boundary_strength,
    "edge cue": lambda image: it.edge_cue(image, "product"),
    "regions": it.segment_regions,
    "figure": lambda image: it.segment_figure(image, (24, 28)),
    "objects": lambda image: it.segment_objects(image, 2).any(axis=0),
    "torque saliency": it.torque_saliency,
    "paper saliency": lambda image: it.torque_saliency(image, form="paper"),
    "GBVS": it.gbvs_saliency,
    "Itti": it.itti_saliency,
    "Boolean maps": saliency.boolean_saliency,
    "signature": saliency.signature_saliency,
    "bytes": lambda image: CheckedImage(image).as_bytes(),
}


@pytest.fixture(scope="module")
def references():
    colour = stored(scene(), "uint8")
    return {name: np.asarray(function(colour), float) for name, function in FUNCTIONS.items()}


@pytest.mark.parametrize(
    "form", [form if form in QUICK else pytest.param(form, marks=pytest.mark.slow) for form in SCALES]
)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_same_scene_gives_the_same_result_in_every_form(name, form, references):
    comp = np.asarray(FUNCTIONS[name](stored(scene(), form)), float)
    ref = references[name]
    span = max(float(ref.max() - ref.min()), 1e-9)
    coarse = SCALES[form][1] in (np.int8, np.float16)  # these round the pixels
    off = np.abs(comp - ref) > (0.06 if coarse else 0.03) * span
    assert off.mean() <= (0.03 if coarse else 0.004)


@pytest.mark.parametrize("form", ["uint16", "10 bits in uint16", "float 0-1", "float 0-4095", "int32"])
def test_the_same_scene_has_the_same_blobs_and_boxes_in_every_form(form):
    ref, comp = (it.find_blobs(stored(scene(), f), count=3) for f in ("uint8", form))
    order, ref_order = np.argsort(comp.y), np.argsort(ref.y)
    assert_allclose([comp.y[order], comp.x[order]], [ref.y[ref_order], ref.x[ref_order]], atol=0.5)
    ref, comp = (it.propose_objects(stored(scene(), f), 5).as_array() for f in ("uint8", form))
    assert_array_equal(comp, ref)


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (np.array([[0, 16]], np.uint8), (0, 255)),
        (np.array([[0, 9]], np.uint8), (0, 9)),
        (np.array([[0, 1]], np.uint8), (0, 1)),
        (np.array([[0, 0]], np.uint8), (0, 255)),
        (np.array([[7, 256]], np.uint16), (0, 1023)),
        (np.array([[7, 5000]], np.uint16), (0, 16383)),
        (np.array([[7, 5000]], np.int16), (0, 32767)),
        (np.array([[0, 10**6]], np.int32), (0, 10**6)),
        (np.array([[-1024, 3000]], np.int16), (-1024, 3000)),
        (np.array([[-5, -5]], np.int16), (-5, -4)),
        (np.array([[False, True]]), (0, 1)),
        (np.array([[0.2, 0.4]]), (0, 1)),
        (np.array([[-0.02, 1.05]]), (0, 1)),
        (np.array([[-1.0, 1.0]]), (-1, 1)),
        (np.array([[-2.0, 8.0]]), (-2, 8)),
        (np.array([[0.0, 280.0]]), (0, 255)),
        (np.array([[0.0, 3e-7]]), (0, 3e-7)),
        (np.array([[0.0, 1e7]]), (0, 1e7)),
        (np.zeros((2, 2)), (0, 1)),
    ],
)
def test_black_and_white_follow_the_rule(image, expected):
    assert value_range(image) == pytest.approx(expected)


def test_a_given_range_makes_images_comparable():
    faint, strong = scene()[:, :, 1] * 0.001, scene()[:, :, 1]
    ref = it.boundary_strength(strong)
    assert_allclose(it.boundary_strength(faint, value_range=(0, 0.001)), ref, atol=1e-3)
    assert_allclose(grey_image(faint, (0, 0.001)), strong, atol=1e-6)
    assert not it.boundary_strength(faint, value_range=(0, 1)).any()


@pytest.mark.parametrize("given", [(1, 1), (2, 1), (0, np.inf), (np.nan, 1)])
def test_a_range_without_sense_is_refused(given):
    with pytest.raises(ValueError, match="value_range must be finite, black below white"):
        it.detect_edges(scene(), value_range=given)


def test_a_range_of_one_number_is_refused():
    with pytest.raises(TypeError, match=r"value_range must be two numbers \(black, white\), got 3"):
        it.detect_edges(scene(), value_range=3)


@pytest.mark.parametrize("dtype", [complex, object, "datetime64[s]", "U3"])
def test_what_is_no_real_number_is_refused(dtype):
    with pytest.raises(TypeError, match="image must be bool, integers or floats"):
        CheckedImage(np.zeros((3, 3), dtype))


def test_nan_is_refused_with_and_without_a_range():
    image = np.array([[0.0, np.nan]])
    for given in (None, (0, 1)):
        with pytest.raises(ValueError, match="image must be finite"):
            CheckedImage(image, given)


class TestMasks:
    image = stored(scene(), "uint8")

    def test_masked_pixels_and_their_outline_have_no_edges(self):
        flat = np.full((40, 50), 90, np.uint8)
        flat[10:30, 10:30] = 255
        hidden = np.zeros(flat.shape, bool)
        hidden[8:32, 8:32] = True
        assert it.detect_edges(flat).mask.any()
        assert not it.detect_edges(np.ma.array(flat, mask=hidden)).mask.any()
        assert not it.detect_edges(flat, mask=~hidden).mask.any()

    def test_edges_far_from_the_mask_stay(self):
        counts = np.ones(self.image.shape[:2], bool)
        counts[:, 60:] = False
        edges, whole = it.detect_edges(self.image, mask=counts, low=0.02), it.detect_edges(self.image, low=0.02)
        assert not edges.mask[:, 60:].any()
        assert_array_equal(edges.fx[:, :50], whole.fx[:, :50])

    def test_masked_values_may_be_anything(self):
        image = scene()
        hidden = np.zeros(image.shape, bool)
        hidden[5:9, 5:9] = True
        image[hidden] = np.nan
        assert it.detect_edges(np.ma.array(image, mask=hidden)).mask.any()
        assert CheckedImage(np.ma.array(image, mask=hidden)).high == 1

    def test_both_masks_count(self):
        hidden = np.zeros(self.image.shape[:2], bool)
        hidden[:, :48] = True
        masked = np.ma.array(self.image, mask=np.repeat(hidden[:, :, None], 3, axis=2))
        upper = np.ones(hidden.shape, bool)
        upper[36:] = False
        found = it.detect_edges(masked, mask=upper).mask
        assert found.any()
        assert not found[:, :48].any()
        assert not found[36:].any()

    def test_a_mask_of_another_shape_or_type_is_refused(self):
        for mask in (np.ones((3, 3), bool), np.ones(self.image.shape[:2])):
            with pytest.raises(ValueError, match="mask must be bool of the image's shape"):
                it.detect_edges(self.image, mask=mask)

    def test_a_mask_that_leaves_nothing_is_refused(self):
        with pytest.raises(ValueError, match="mask must leave at least one pixel"):
            it.detect_edges(self.image, mask=np.zeros(self.image.shape[:2], bool))


def test_an_image_is_taken_as_it_is_and_its_range_only_once():
    image = CheckedImage(scene(), (0, 2))
    assert_array_equal(it.detect_edges(image).fx, it.detect_edges(scene(), value_range=(0, 2)).fx)
    with pytest.raises(TypeError, match="must be given to CheckedImage itself"):
        it.detect_edges(image, value_range=(0, 1))


def test_opacity_has_a_range_of_its_own():
    colour = stored(scene(), "float 0-255")
    half = np.full(colour.shape[:2], 0.5)
    over_white = 0.5 * rgb_image(colour) + 0.5
    assert_allclose(rgb_image(np.dstack([colour, half])), over_white, atol=1e-6)
    assert_allclose(rgb_image(np.dstack([colour, 255 * half])), over_white, atol=1e-6)


class TestStrips:
    """Large images are converted in strips; the result is that of the whole."""

    @pytest.fixture(autouse=True)
    def small_strips(self, monkeypatch):
        monkeypatch.setattr("imtorque.images.STRIP_PIXELS", 700)

    image = stored(scene(3, (41, 57)), "uint8")

    def test_grey_and_colours(self):
        assert_array_equal(rgb_image(self.image), np.moveaxis(self.image / 255, 2, 0))
        assert_allclose(grey_image(self.image), self.image @ [0.2125, 0.7154, 0.0721] / 255, atol=1e-6)

    @pytest.mark.parametrize("height", [40, 41])
    def test_halves(self, height):
        image = self.image[:height]
        whole = _halved(np.moveaxis(image / 255, 2, 0))
        assert_array_equal(pyramid(CheckedImage(image), 1)[0], whole)

    @pytest.mark.parametrize("factor", [1, 2, 3, 7])
    def test_block_means(self, factor):
        assert_array_equal(CheckedImage(self.image).block_means(factor), shrunk(rgb_image(self.image), factor))

    def test_resizing(self, monkeypatch):
        comp = CheckedImage(self.image).resized((13, 20))
        monkeypatch.undo()
        assert_allclose(comp, CheckedImage(self.image).resized((13, 20)), atol=1e-12)


def test_fitting_keeps_the_mean_and_the_longest_side():
    plane = np.random.default_rng(0).random((60, 90)).astype(np.float32)
    small = fitted(plane, 30)
    assert small.shape == (20, 30)
    assert small.mean() == pytest.approx(plane.mean(), abs=1e-3)
    assert fitted(plane, 90) is plane
