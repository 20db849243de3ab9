"""Make the recorded calls of kernels again, and compare all bits: python wheels/replay.py calls.pickle

Needs numpy and the kernels alone, so that an emulated processor is done with it in minutes.
"""

from __future__ import annotations

import pickle
import platform
import sys
from collections import Counter
from pathlib import Path

from calls import KERNELS, METHODS

from imtorque import _native


def main() -> None:
    """Make the calls again."""
    with Path(sys.argv[1]).open("rb") as file:
        calls = pickle.load(file)
    _native.use_all_threads(True)
    _native.set_num_threads(3)
    other = Counter(call.name for call in calls if not call.again())
    made = Counter(call.name for call in calls)
    where = f"{platform.system()} {platform.machine()}, AVX2 {'used' if _native.uses_avx2() else 'not used'}"
    if other or made.keys() != KERNELS.union(METHODS):
        sys.exit(f"{where}: other bits in {dict(other)}, no call of {sorted(KERNELS.union(METHODS) - made.keys())}")
    print(f"{where}: {sum(made.values())} calls of {len(made)} kernels with the same bits")


if __name__ == "__main__":
    main()
