"""Images at their working size: made once, whoever asks."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from drawn_classes import draw_image, use_small_blocks
from imtorque.recognition import (
    DenseSIFT,
    Recogniser,
    TorquePatches,
    WorkingImage,
    WorkingImages,
    features,
    working_image,
)


@pytest.fixture
def greys(monkeypatch):
    """Shapes of the images that were made grey."""
    made = []
    real = working_image.CheckedImage.grey
    monkeypatch.setattr(working_image.CheckedImage, "grey", lambda image: made.append(image.shape) or real(image))
    return made


def test_a_method_of_several_blocks_makes_each_image_grey_once(greys, monkeypatch):
    use_small_blocks(monkeypatch)
    images = [draw_image("disc", 0), draw_image("ring", 1), draw_image("bar", 2)]
    features("sift+torque-colour").fit_transform(images)
    assert greys == [(48, 64)] * 3


def test_a_recogniser_makes_an_image_grey_once(greys):
    model = Recogniser.load(Path(__file__).parent / "models" / "format-1.model")
    assert len(model.blocks) == 4
    model.recognise(draw_image("ring", 1))
    assert greys == [(48, 64)]


def test_a_working_image_of_another_size_is_made_from_the_whole_image():
    image = np.random.default_rng(0).random((100, 80))
    small = working_image.working_image(image, 50)
    assert working_image.working_image(small, 50) is small
    assert_array_equal(working_image.working_image(small, 70).grey, WorkingImage(image, 70).grey)
    assert WorkingImages(50).fit().transform([small]) == [small]


def test_describing_a_working_image_is_describing_the_image():
    image = draw_image("ring", 4)
    for estimator in (DenseSIFT(), DenseSIFT(longest=40)):
        assert_array_equal(estimator.describe(WorkingImage(image)).vectors, estimator.describe(image).vectors)
    found, expected = (TorquePatches(colour=True).detect(i) for i in (WorkingImage(image), image))
    assert_array_equal(found.y, expected.y)
    assert_array_equal(found.described[1].fx, expected.described[1].fx)


def test_large_images_are_reduced_and_small_ones_kept():
    assert WorkingImage(np.zeros((400, 600))).grey.shape == (200, 300)
    assert WorkingImage(np.zeros((100, 300))).grey.shape == (100, 300)
    assert WorkingImage(np.zeros((17, 6000))).grey.shape == (16, 300)
    checks = np.indices((600, 600)).sum(axis=0) % 2
    assert_allclose(WorkingImage(checks.astype(float)).grey, 0.5, atol=1e-6)
