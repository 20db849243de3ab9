"""The image torque operator in napari: planes.py reads layers, results.py makes new ones, widgets.py asks for them."""

__version__ = "0.3.0.dev0"
