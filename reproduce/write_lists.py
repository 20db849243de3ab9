"""Write the lists of files that results read: `python reproduce/write_lists.py DIR`, a folder of data sets."""

import sys
from pathlib import Path

from imtorque.datasets.lists import FOLDER, LISTS, digests, list_text
from imtorque.files import write_text

for name, (folder, _) in LISTS.items():
    found = digests(name, Path(sys.argv[1]) / folder)
    write_text(FOLDER / f"{name}.json", list_text(found))
