"""
Videos
=====

Objects that move, cross and pass behind posts, drawn with known truth (`imtorque.synthetic.video_scene`). Every frame
is looked at by itself; `track_extrema` links what is found over time, frame by frame as they come, so that each object
keeps its number while it is hidden for a while. Below, the ways of all tracks: a gap is where an object was not seen.
"""

from collections import defaultdict

import matplotlib.pyplot as plt

from imtorque.render.tracks import TRACK_COLOURS, track_image
from imtorque.synthetic import video_scene
from imtorque.video import track_extrema

scene = video_scene(7, shape=(360, 560), frames=60, count=7)
frames = list(scene.frames())
ways = defaultdict(list)
figure, cells = plt.subplots(2, 3, figsize=(13, 6), layout="constrained")
shown = dict(zip((5, 17, 29, 36, 56), cells.flat, strict=False))
for found in track_extrema(frames):
    for track, y, x in zip(found.track.tolist(), found.y.tolist(), found.x.tolist(), strict=True):
        ways[track].append((found.number, y, x))
    if found.number in shown:
        tails = {track: [(y, x) for _, y, x in way[-20:]] for track, way in ways.items()}
        image = track_image(frames[found.number], found.track, found.y, found.x, found.size, tails)
        shown[found.number].imshow(image)
        shown[found.number].set(title=f"frame {found.number}", xticks=[], yticks=[])
for track, way in ways.items():
    number, _, x = zip(*way, strict=True)
    cells[1, 2].plot(number, x, ".", ms=3, color=TRACK_COLOURS[track % len(TRACK_COLOURS)])
    cells[1, 2].annotate(str(track), (number[-1], x[-1]), fontsize=8)
for left, right in scene.posts:
    cells[1, 2].axhspan(left, right, color="0.85", zorder=0)
cells[1, 2].set(title="x of each track over time, and the posts", xlabel="frame", ylabel="x")

plt.show()
