"""Load the module of a wheel without numpy, and let a kernel change an array: python wheels/load.py MODULE."""

import sys
from array import array
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

spec = spec_from_loader("_native", ExtensionFileLoader("_native", sys.argv[1]))
native = module_from_spec(spec)
spec.loader.exec_module(native)

planes = [memoryview(array("f", values)).cast("B").cast("f", (2, 2)) for values in ([3, 0, 0, -8], [4, 0, 2, 6])]
native.shape_forces(*planes, strength_scale=0.0, directions=0, arc_length=False)
unit = [[round(number, 6) for row in plane.tolist() for number in row] for plane in planes]
assert unit == [[0.6, 0, 0, -0.8], [0.8, 0, 1, 0.6]], unit
print(f"{sys.platform}, Python {sys.version.split()[0]}: the module loads, {native.num_threads()} threads, {unit[0]}")
