"""Detection click by click: a correction never makes the rest worse."""

import csv
import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

import imtorque
from data_folder import data_folder
from imtorque.detection.clicks import Click, find_clicked, trained_on_clicks

MOST_CLICKS = 12
FIRST = 3  # clicked before anything is looked at


def cells(seed):
    """Round objects of various sizes and brightness, some on a ramp, in noise: an image, and their (y, x, diameter)."""
    rng = np.random.default_rng(seed)
    image = np.full([(200, 260), (240, 320), (260, 340)][seed % 3], 80.0)
    y, x = np.indices(image.shape)
    usual, placed = rng.uniform(7, 12), []
    for _ in range(4000):
        at = rng.uniform(14, image.shape[0] - 14), rng.uniform(14, image.shape[1] - 14)
        radius = usual * rng.uniform(0.8, 1.25)
        if len(placed) < 44 and all(math.dist(at, other) > radius + r + 3 for other, r in placed):
            placed.append((at, radius))
    for (row, column), radius in placed:
        stretch = rng.uniform(0.75, 1.3)
        image += rng.uniform(35, 95) * (np.hypot((y - row) / radius * stretch, (x - column) / radius / stretch) < 1)
    image += 40 * x / image.shape[1] * (seed % 2) + rng.normal(0, 3 + 2 * (seed % 4), image.shape)
    truth = np.array([(*at, 2 * radius) for at, radius in placed])
    return np.clip(ndimage.gaussian_filter(image, 0.8), 0, 255).astype(np.uint8), truth


def f1(found, truth):
    """F1 by place, and which true and which found objects were met."""
    met = np.hypot(found.y[:, None] - truth[:, 0], found.x[:, None] - truth[:, 1]) < truth[:, 2] / 2
    rows, columns = linear_sum_assignment(met, maximize=True)
    hit = met[rows, columns]
    are_met = np.isin(np.arange(len(truth)), columns[hit])
    return 2 * hit.sum() / sum(met.shape), are_met, np.isin(np.arange(len(found)), rows[hit])


def corrected(image, truth):
    """F1 after each click of someone who drags a few objects, and then corrects what there is more of: what is missed
    or what is wrong."""
    rng, known = np.random.default_rng(0), {}

    def remember(key, compute):
        if key not in known:
            known[key] = compute()
        return known[key]

    order = rng.permutation(len(truth))
    clicks = [Click(*np.rint(truth[k]), False) for k in order[:FIRST]]
    scores = []
    while True:
        found = find_clicked(image, clicks, remember=remember)
        score, met, right = f1(found, truth)
        scores.append(score)
        assert all(found.labels[round(click.y), round(click.x)] for click in clicks if not click.negative)
        if score == 1 or len(clicks) == MOST_CLICKS:
            return scores
        missed, wrong = np.flatnonzero(~met), np.argwhere(np.isin(found.labels, np.flatnonzero(~right)[:1] + 1))
        if np.sum(~right) > len(missed) and len(wrong):
            clicks.append(Click(*map(int, wrong[np.hypot(*(wrong - wrong.mean(axis=0)).T).argmin()]), 0, True))
        else:
            clicks.append(Click(*np.rint(truth[rng.choice(missed)]), False))


def worst_fall(scores):
    return max([0.0, *np.subtract(scores[:-1], scores[1:])])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_twelve_clicks_find_drawn_cells_and_no_correction_makes_it_worse(seed):
    scores = corrected(*cells(seed))
    assert scores[-1] >= 0.9
    assert worst_fall(scores) <= 0.02


REAL = [("nuclei", "00071198d059ba7f.png"), ("nuclei", "2ab91a4408860ae8.png"), ("nuclei", "56d0da5b663ddd49.png")]


@pytest.mark.slow
@pytest.mark.parametrize(("group", "name"), REAL)
def test_on_real_images_no_correction_makes_it_worse(group, name):
    folder = data_folder("counting") / group
    with open(folder / "objects.csv", newline="") as file:
        rows = [
            [float(row[key]) for key in ("y0", "x0", "y1", "x1")]
            for row in csv.DictReader(file)
            if row["image"] == name
        ]
    y0, x0, y1, x1 = np.array(rows).T
    truth = np.stack([(y0 + y1) / 2, (x0 + x1) / 2, (y1 - y0 + x1 - x0) / 2], axis=1)
    assert worst_fall(corrected(np.asarray(Image.open(folder / "images" / name)), truth)) <= 0.02


@pytest.mark.parametrize("seed", [2, 3])
def test_one_object_clicked_finds_those_like_it_and_not_everything(seed):
    image, truth = cells(seed)
    clicks = [Click(*np.rint(truth[np.argsort(truth[:, 2])[len(truth) // 2]]))]
    found = find_clicked(image, clicks)
    assert f1(found, truth)[0] >= 0.9
    assert len(trained_on_clicks(image, clicks).predict(image)) == len(found)


def discs(radii):
    image = np.full((120, 160), 90, np.uint8)
    y, x = np.indices(image.shape)
    places = [(row, column) for row in (24, 60, 96) for column in (24, 60, 96, 132)]
    for (row, column), radius in zip(places, radii, strict=True):
        image[np.hypot(y - row, x - column) <= radius] = 200
    return image + (np.random.default_rng(0).random(image.shape) < 0.5).astype(np.uint8) * 4, places


def test_a_wrong_one_takes_those_of_its_kind_with_it_and_no_others():
    image, places = discs([14, 9, 10, 9] * 3)
    clicks = [Click(*places[k], d) for k, d in ((1, 18), (2, 20), (0, 28), (7, 18))]
    assert len(find_clicked(image, clicks)) == 12
    found = find_clicked(image, [*clicks[:2], clicks[3], clicks[0], Click(*places[4], 0, True)])
    assert np.hypot(found.y - places[4][0], found.x - places[4][1]).min() > 20
    alike, places = discs([10] * 12)
    taught = [Click(*places[k], 20) for k in (1, 5, 10)]
    assert len(find_clicked(alike, taught)) == 12
    assert len(find_clicked(alike, [*taught, Click(*places[7], 0, True)])) == 11


def test_what_is_clicked_is_counted_though_nothing_is_there():
    image, places = discs([10] * 12)
    clicks = [Click(*places[k], 20) for k in (1, 5, 10)]
    found = find_clicked(image, [*clicks, Click(42, 78, 12)])
    assert all(found.labels[place] for place in places)
    row = found.labels[42, 78] - 1
    assert (found.score[row], found.diameter[row]) == (1, pytest.approx(12, abs=2))


def test_the_least_score_spares_what_was_clicked():
    image, places = discs([10] * 12)
    clicks = [Click(*places[k], 20) for k in (1, 5, 10)]
    assert len(find_clicked(image, clicks, min_score=1)) == 3
    assert len(find_clicked(image, clicks, min_score=0.0)) >= 12


def test_clicks_of_another_image_teach():
    image, places = discs([10] * 12)
    clicks = [Click(*places[k], 20) for k in (1, 5, 10)]
    other = np.roll(image, 7, axis=1)
    assert len(find_clicked(other, [], [(image, clicks)])) == 12
    assert len(find_clicked(other, [])) == 0


def test_a_finder_of_shrunk_images_takes_whole_ones(tmp_path):
    image, places = discs([10] * 12)
    finder = imtorque.detection.trained_on_clicks(image, [Click(*places[k], 20) for k in (1, 5, 10)])
    shown = finder.predict(image)
    finder.reduce = 3
    finder.save(tmp_path / "a.finder")
    whole = np.pad(image.repeat(3, axis=0).repeat(3, axis=1), [(0, 2), (0, 1)])
    found = imtorque.ObjectFinder.load(tmp_path / "a.finder").predict(whole)
    assert found.labels.shape == whole.shape
    assert_array_equal(found.y, 3 * shown.y + 1)
    assert_array_equal(found.diameter, 3 * shown.diameter)
    assert_array_equal(found.labels[1 : 3 * 120 : 3, 1 : 3 * 160 : 3], shown.labels)
