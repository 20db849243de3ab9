"""Where figures are drawn."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure


def given_or_new_axes(ax: Axes | None) -> Axes:
    """Return the Axes given, or new ones in a figure that pyplot shows when it is asked to."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # only here: figures drawn into given Axes need no window system

    return pyplot.subplots(layout="constrained")[1]


def new_axes(size: tuple[float, float]) -> Axes:
    """Return Axes in a figure of their own, of this width and height in inches, that no window system knows of."""
    return Figure(figsize=size, layout="constrained").add_subplot()


def figure_of(axes: Axes) -> Figure:
    """Return the figure that Axes belong to."""
    figure = axes.get_figure(root=True)
    if figure is None:
        raise ValueError("ax must belong to a figure")
    return figure
