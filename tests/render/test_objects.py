"""Overlays of objects: outlines that are seen, numbers that hide nothing."""

import numpy as np

from imtorque.render.objects import OUTLINE, numbered_overlay


def squares(side, width, count):
    """A label image of squares in a row, and their centres."""
    labels = np.zeros((side, side), np.int32)
    places = np.linspace(width, side - width, count)
    for k, x in enumerate(places.astype(int)):
        labels[side // 2 : side // 2 + width, x - width // 2 : x - width // 2 + width] = k + 1
    return labels, np.full(count, side // 2 + (width - 1) / 2), places


def drawn(side, width, count):
    labels, y, x = squares(side, width, count)
    return labels, numbered_overlay(np.full((side, side), 90, np.uint8), labels, y, x)


def is_outline(overlay):
    return (overlay == np.array(OUTLINE)).all(axis=-1)


def test_a_number_stands_in_a_large_object_and_none_in_a_small_one():
    labels, large = drawn(700, 60, 3)
    assert (large[labels == 1] != 90).any(axis=-1).mean() > 0.08
    labels, small = drawn(700, 14, 3)
    inside = labels > 0
    inside[1:-1, 1:-1] &= labels[2:, 1:-1] > 0
    inner = inside & (np.roll(labels, 3, 0) > 0) & (np.roll(labels, -3, 0) > 0)
    inner &= (np.roll(labels, 3, 1) > 0) & (np.roll(labels, -3, 1) > 0)
    assert np.all(small[inner] == 90)


def test_a_legend_says_how_many_have_no_number():
    _, small = drawn(700, 14, 3)
    _, large = drawn(700, 60, 3)
    assert not np.all(small[-40:, :200] == 90)
    assert np.all(large[-40:, :200] == 90)


def test_outlines_are_thicker_in_large_images():
    widths = [int(is_outline(drawn(side, 120, 2)[1])[side // 2 + 60].sum()) for side in (700, 2700)]
    assert widths[1] >= 2 * widths[0] > 0
