"""
Torque patches and their descriptor
===================================

The strongest patches of a photograph, and the multiscale torque descriptor of a large one among them: the torque of
regions of three sizes around its centre and around points along eight directions (Sec. 4.4, Fig. 19).
"""

import matplotlib.pyplot as plt
import numpy as np

import imtorque
from imtorque.plotting import show_descriptor, show_patches
from imtorque.recognition import Patches, TorquePatches, multiscale_torque

image = imtorque.datasets.sample("hopper")
patches = TorquePatches(count=400).detect(image)

plain, aligned = (multiscale_torque(patches.edges, patches, align=align) for align in (False, True))
inside = (patches.y > patches.size) & (patches.x > patches.size)
chosen = [int(np.argmax(np.where(inside & np.any(plain != aligned, axis=1), patches.size, 0)))]
large = Patches(patches.edges, patches.y[chosen], patches.x[chosen], patches.size[chosen])

figure, cells = plt.subplots(2, 2, figsize=(12, 6.4), width_ratios=(1, 2.2), layout="constrained")
show_patches(image, patches, most=60, ax=cells[0, 0])
show_patches(image, large, ax=cells[1, 0])
show_descriptor(plain[chosen], ax=cells[0, 1])
cells[0, 1].set_title("its descriptor")
show_descriptor(aligned[chosen], ax=cells[1, 1])
cells[1, 1].set_title("the same, with the directions from that of the edges' centroid on")

plt.show()
