"""Videos for tests: two discs that pass each other over a little noise, in all forms a video can have."""

from functools import cache

import av
import numpy as np

from imtorque import synthetic

GOP = 12
X264 = f"keyint={GOP}:min-keyint={GOP}:scenecut=0:bframes=3:b-adapt=0:threads=1"
FORMS = {  # name of the file: encoder and its options
    "closed.mp4": ("libx264", {"x264-params": f"{X264}:open-gop=0"}),
    "open.mp4": ("libx264", {"x264-params": f"{X264}:open-gop=1"}),
    "open.mkv": ("libx264", {"x264-params": f"{X264}:open-gop=1"}),
    "mpeg4.mp4": ("mpeg4", {"g": str(GOP), "bf": "2"}),
    "mpeg4.avi": ("mpeg4", {"g": str(GOP)}),
}


@cache
def drawn_frames(count=60, shape=(96, 128)):
    """Draw grey frames: a bright disc goes right, a dark one left."""
    rng = np.random.default_rng(0)
    frames = []
    for k in range(count):
        image = synthetic.paint(0.5, synthetic.disc(shape, (32, 20 + 1.4 * k), 11), 0.95)
        image = synthetic.paint(image, synthetic.disc(shape, (66, 108 - 1.4 * k), 9), 0.1)
        frames.append(np.uint8(255 * np.clip(image + rng.normal(0, 0.01, shape), 0, 1)))
    return frames


def write_video(path, frames, codec="libx264", options=None, rate=25):
    """Encode grey or colour frames."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, options=options or {})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            form = "gray" if frame.ndim == 2 else "rgb24"
            shown = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format=form)
            container.mux(stream.encode(shown.reformat(format="yuv420p")))
        container.mux(stream.encode(None))
    return path


def make_video(folder, name="open.mp4", count=60):
    """Write the discs in one of the FORMS."""
    codec, options = FORMS[name]
    return write_video(folder / name, drawn_frames(count), codec, options)
