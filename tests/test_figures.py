"""What the paper's figures show, on drawn shapes."""

import math

import numpy as np
import pytest

from imtorque import Edges, detect_edges, find_extrema, torque_map, torque_spectrum, value_and_scale_maps
from imtorque.synthetic import disc, paint, scene, square, texture, triangle


def test_a_disc_in_its_square_patch_has_torque_pi_over_four():
    image = paint(np.ones((101, 101)), disc((101, 101), (50, 50), 30), 0.1)
    spectrum = torque_spectrum(detect_edges(image, length_correction=True), (50, 50), range(3, 100, 2))
    assert spectrum.min() == pytest.approx(-math.pi / 4, abs=0.04)
    assert spectrum.min() == pytest.approx(-math.pi * 30**2 / 61**2, abs=0.01)  # its area over that of the patch
    assert range(3, 100, 2)[int(spectrum.argmin())] == 61


def test_a_square_in_its_patch_has_torque_near_one():
    image = np.ones((81, 81))
    image[20:61, 20:61] = 0
    edges = detect_edges(image)
    spectrum = torque_spectrum(edges, (40, 40), range(3, 82, 2))
    assert spectrum.min() == pytest.approx(-0.92, abs=0.04)
    assert range(3, 82, 2)[int(spectrum.argmin())] in (41, 43)


def test_a_diamond_in_its_disk_patch_has_torque_two_over_pi():
    image = square((101, 101), (50, 50), 40 * math.sqrt(2), angle=math.pi / 4)
    corrected = detect_edges(image, length_correction=True)
    assert torque_map(corrected, 81, patch="disk")[50, 50] == pytest.approx(2 / math.pi, abs=0.02)


def test_random_texture_stays_well_below_a_closed_contour():
    ground = texture((161, 241), seed=1)
    sizes = range(21, 92, 2)
    flat = np.abs(value_and_scale_maps(detect_edges(ground), sizes)[0]).max()
    outlined = paint(ground, disc(ground.shape, (80, 120), 30), 0.0)
    closed = np.abs(value_and_scale_maps(detect_edges(outlined), sizes)[0])[80, 120]
    assert flat < 0.45
    assert closed > 0.6
    assert closed > 1.5 * flat


@pytest.mark.parametrize("patch", ["square", "disk"])
@pytest.mark.parametrize("density", [0.02, 0.05, 0.15])
def test_over_all_sizes_texture_stays_below_a_closed_contour_but_not_below_the_papers(patch, density):
    sizes = range(3, 92, 2)
    images = (texture((121, 121), density=density), scene("disc", (121, 121)))
    flat, closed = (np.abs(value_and_scale_maps(detect_edges(p), sizes, patch=patch)[0]).max() for p in images)
    assert 0.39 < flat < 0.55
    assert closed > 0.65


def test_a_triangle_is_found_at_its_place_and_size():
    radius = 30
    image = paint(np.ones((121, 121)), triangle((121, 121), (60, 60), radius), 0.1)
    edges = detect_edges(image)
    largest = find_extrema(edges, sizes=range(25, 92, 2), sign=-1, count=1)
    assert abs(largest.y[0] - 62) <= 6  # a square patch sits a little below the centre of the circumscribed circle
    assert abs(largest.x[0] - 60) <= 1
    assert 35 <= largest.size[0] <= 60
    sizes = np.arange(3, 92, 2)
    spectrum = np.abs(torque_spectrum(detect_edges(image, length_correction=True), (60, 60), sizes, patch="disk"))
    # Half a side, reached by a disk of radius R, is sqrt(R^2 - 15^2): the sum over three sides is largest at
    # R = 30 / sqrt(2), with 3 / (2 pi). The paper's curve peaks between 0.4 and 0.5, at 21 to 22.
    assert (sizes[spectrum.argmax()] - 1) / 2 == pytest.approx(radius / math.sqrt(2), abs=1.5)
    assert spectrum.max() == pytest.approx(3 / (2 * math.pi), abs=0.04)


def test_overlapping_dark_objects_leave_a_positive_strip_and_a_hole_does_not():
    overlap = scene("overlap")
    value = value_and_scale_maps(detect_edges(overlap), range(3, 92, 2))[0]
    dark, brighter = overlap < 0.3, (overlap > 0.45) & (overlap < 0.55)
    assert np.mean(value[dark] < 0) > 0.9
    assert np.mean(value[brighter] < 0) > 0.8
    assert 0.005 < np.mean(value[brighter] > 0.02) < 0.2  # the strip beside the shared edge
    hole = scene("hole")
    value = value_and_scale_maps(detect_edges(hole), range(3, 92, 2))[0]
    ring = hole < 0.3
    assert np.mean(value[ring] < 0) > 0.85
    assert value[80, 120] > 0.5  # the hole itself is a bright object


def test_a_gap_lowers_the_torque_but_does_not_lose_the_contour():
    image = paint(np.ones((101, 101)), disc((101, 101), (50, 50), 30), 0.1)
    whole = detect_edges(image)
    y, x = np.indices(image.shape) - 50
    keep = np.abs(np.arctan2(y, x)) > math.pi / 8  # an eighth of the contour is missing
    gap = Edges(whole.fx * keep, whole.fy * keep)
    ratio = torque_map(gap, 61)[50, 50] / torque_map(whole, 61)[50, 50]
    assert ratio == pytest.approx(7 / 8, abs=0.03)


def test_a_smaller_alpha_prefers_larger_patches():
    edges = detect_edges(scene("shapes"))
    medians = [np.median(np.abs(value_and_scale_maps(edges, range(3, 92, 2), alpha=a)[1])) for a in (2.0, 1.5, 1.0)]
    assert medians[0] < medians[1] < medians[2]
