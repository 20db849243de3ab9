"""What cannot be judged is refused, in words that say what must hold."""

import numpy as np
import pytest

from imtorque import evaluation

LABELS = np.repeat([[1, 1, 2]], 3, axis=0)
EDGE = LABELS == 2
FLAT = np.zeros(3)


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        (
            lambda: evaluation.segmentation_boundary(FLAT),
            r"labels must have shape \(H, W\) and not be empty, got \(3,\)",
        ),
        (lambda: evaluation.segmentation_boundary_scores([], [EDGE]), "at least one label map, got none"),
        (
            lambda: evaluation.segmentation_boundary_scores([LABELS, LABELS[:2]], [EDGE]),
            r"share one shape, got \(3, 3\) and \(2, 3\)",
        ),
        (lambda: evaluation.centre_prior((4, 5), spread=0), "spread must be above 0, got 0"),
        (lambda: evaluation.nss(FLAT, [0], [0]), r"saliency must have .*, got \(3,\)"),
        (lambda: evaluation.mask_scores(EDGE, FLAT), r"truth must have shape .* got \(3,\)"),
        (lambda: evaluation.mask_scores(FLAT, EDGE), r"prediction must have shape .* got \(3,\)"),
        (
            lambda: evaluation.region_scores([LABELS], [LABELS], thresholds=[0.1, 0.2]),
            "thresholds must name each of the 1 segmentations, got 2",
        ),
        (lambda: evaluation.summarise_regions([]), "scores must hold at least one image, got none"),
        (lambda: evaluation.region_scores([FLAT], [LABELS]), r"must have shape .* got \(3,\)"),
    ],
)
def test_what_cannot_be_judged_is_refused(judge, message):
    with pytest.raises(ValueError, match=message):
        judge()


def test_one_pixel_is_segmented_alike_by_all():
    assert evaluation.rand_index([[1]], [[7]]) == 1.0
