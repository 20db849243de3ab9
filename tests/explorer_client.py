"""The explorer as its page meets it: a running server, a client for it, and its answers read back."""

import contextlib
import io
import json
import threading

import httpx
import numpy as np
import uvicorn
from PIL import Image

from imtorque.explorer.connections import server_config
from imtorque.explorer.launch import listen
from imtorque.explorer.server import make_app
from waiting import GIVEN_UP


@contextlib.contextmanager
def running(**options):
    """Run a server in a thread and give its address."""
    listening = listen("127.0.0.1", 0)
    listening.listen()  # who comes before the server has started waits, and is not turned away
    server = uvicorn.Server(server_config(make_app(**options), timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()


@contextlib.contextmanager
def client(**options):
    with running(**options) as address, httpx.Client(base_url=address, timeout=GIVEN_UP) as open_client:
        yield open_client


def unpack(content):
    length = int.from_bytes(content[:4], "little")
    head = json.loads(content[4 : 4 + length])
    arrays = {}
    for name, entry in head["arrays"].items():
        count = int(np.prod(entry["shape"]))
        data = np.frombuffer(content, entry["dtype"], count, offset=4 + length + entry["start"])
        arrays[name] = data.reshape(entry["shape"])
    return head, arrays


def file_bytes(pixels, kind="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()
