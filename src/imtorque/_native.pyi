import numpy as np
from numpy.typing import NDArray

def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...

# Boundary evaluation
def thin(picture: NDArray[np.uint8]) -> NDArray[np.uint8]: ...
def match_min_cost(
    pixels: NDArray[np.int32],
    starts: NDArray[np.int64],
    truths: NDArray[np.uint8],
    radius: float,
    outlier_cost: float,
) -> NDArray[np.int32]: ...
def match_cardinality(
    pixels: NDArray[np.int32], starts: NDArray[np.int64], truths: NDArray[np.uint8], radius: float
) -> NDArray[np.int32]: ...
