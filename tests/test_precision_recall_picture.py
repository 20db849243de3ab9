import matplotlib as mpl

mpl.use("Agg")

from imtorque.plotting import show_precision_recall


def test_a_second_curve_joins_the_first_picture():
    axes = show_precision_recall([0.9, 0.5, 0], [0.4, 0.8, 0], best=(0.5, 0.8), label="a")
    lines = len(axes.lines)
    again = show_precision_recall([0.8, 0.3], [0.5, 0.9], label="b", ax=axes)
    assert again is axes
    assert len(axes.lines) == lines + 1  # the lines of equal F are drawn once
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]
    assert len(axes.lines[9].get_xdata()) == 2  # where nothing was predicted, there is no point
