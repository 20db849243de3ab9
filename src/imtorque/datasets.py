"""Sample pictures; none is shipped with the library."""

from __future__ import annotations

from importlib.resources import as_file, files
from importlib.util import find_spec, module_from_spec

from imtorque._types import Image
from imtorque.files import read_image
from imtorque.synthetic import SCENES, scene

PHOTOGRAPHS = {"hopper": ("matplotlib", "mpl-data/sample_data/grace_hopper.jpg")}
SAMPLES = (*PHOTOGRAPHS, *SCENES)


def sample(name: str) -> Image:
    """Return a picture to try things on.

    Parameters
    ----------
    name
        "hopper": a photograph of Grace Hopper, in the public domain, which lies inside the matplotlib package. Or a
        drawn scene: "shapes", "disc", "triangle", "overlap", "hole", "gap" or "texture".

    Returns
    -------
    ndarray
        Colour uint8 for the photograph, grey float in [0, 1] for scenes.

    Examples
    --------
    >>> sample("hopper").shape
    (600, 512, 3)
    """
    if name not in SAMPLES:
        raise ValueError(f"sample must be one of {', '.join(SAMPLES)}, got {name!r}")
    if name not in PHOTOGRAPHS:
        return scene(name)
    package, place = PHOTOGRAPHS[name]
    spec = find_spec(package)
    if spec is None:
        raise ValueError(f"sample {name!r} lies in the package {package}, which must be installed")
    # The module is not executed: finding the file must not cost the import of matplotlib.
    with as_file(files(module_from_spec(spec)).joinpath(place)) as path:
        return read_image(path)
