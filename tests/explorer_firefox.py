"""Debian's Firefox, driven by its own protocol (WebDriver BiDi): a tab, and what its user does."""

import contextlib
import itertools
import json
import re
import shutil
import subprocess
import tempfile

from waiting import GIVEN_UP, until

FIREFOX = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
IDLE = "document.querySelector('#stage')?.getAttribute('aria-busy') === 'false'"
PLACE = """(async () => {
    const { page: { stage } } = await import("/page/page.js");
    const box = stage.canvas.getBoundingClientRect();
    const [y, x] = [%r, %r].map((at) => (at + 0.5) * stage.scale);
    return JSON.stringify([box.top + stage.top + y, box.left + stage.left + x].map(Math.round));
})()"""


class Firefox:
    """One tab of a running Firefox."""

    def __init__(self, socket):
        self._socket, self._numbers, self.complaints = socket, itertools.count(), []
        self.send("session.new", capabilities={})
        self.send("session.subscribe", events=["log.entryAdded"])
        self._tab = self.send("browsingContext.getTree")["contexts"][0]["context"]
        self.send("browsingContext.setViewport", context=self._tab, viewport={"width": 1280, "height": 720})

    def send(self, method, **params):
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(self._socket.recv(timeout=GIVEN_UP))
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.complaints.append(message["params"]["text"])
            if message.get("id") == number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['message']}")
                return message["result"]

    def open(self, url):
        self.send("browsingContext.navigate", context=self._tab, url="about:blank", wait="complete")
        self.send("browsingContext.navigate", context=self._tab, url=url, wait="complete")
        return self.wait()

    def evaluate(self, expression):
        """Return what an expression gives, a text or a number; of a promise, what it comes to."""
        answer = self.send("script.evaluate", expression=expression, target={"context": self._tab}, awaitPromise=True)
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return answer["result"].get("value")

    def wait(self, condition=IDLE):
        until(lambda: self.evaluate(condition))
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return self

    def text(self, selector):
        return self.evaluate(f"document.querySelector({selector!r}).textContent")

    def drag(self, start, end, button=0):
        """Drag from one pixel (y, x) of the image to another; to the same one, click."""
        (top, left), (bottom, right) = (json.loads(self.evaluate(PLACE % place)) for place in (start, end))
        steps = [{"type": "pointerMove", "x": left, "y": top}, {"type": "pointerDown", "button": button}]
        if start != end:
            steps += [{"type": "pointerMove", "x": (left + right) // 2, "y": (top + bottom) // 2, "duration": 20}]
            steps += [{"type": "pointerMove", "x": right, "y": bottom, "duration": 20}]
        steps += [{"type": "pointerUp", "button": button}]
        source = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}
        self.send("input.performActions", context=self._tab, actions=[source])
        return self.wait()

    def press(self, key):
        steps = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self.send("input.performActions", context=self._tab, actions=[{"type": "key", "id": "keys", "actions": steps}])
        return self.wait()

    def choose_file(self, selector, path):
        """Give a file to an input."""
        expression = f"document.querySelector({selector!r})"
        element = self.send(
            "script.evaluate", expression=expression, target={"context": self._tab}, awaitPromise=False
        )["result"]
        shared = {"sharedId": element["sharedId"]}
        self.send("input.setFiles", context=self._tab, element=shared, files=[str(path)])
        return self


@contextlib.contextmanager
def firefox():
    """Start Firefox without a window; give its tab."""
    from websockets.sync.client import connect

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [FIREFOX, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as started:
            try:
                lines = iter(started.stderr.readline, "")
                address = next(filter(None, (re.search(r"ws://\S+", line) for line in lines)))[0]
                with connect(f"{address}/session", max_size=None, open_timeout=GIVEN_UP) as socket:
                    yield Firefox(socket)
            finally:
                started.terminate()
