# SPDX-FileCopyrightText: the Kaiten authors
# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven by the DevTools protocol through a pipe, and a file server for it: no package is needed."""
import base64
import contextlib
import functools
import http.server
import json
import os
import select
import subprocess
import threading
import time


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(folder):
    """The address of a folder, as long as it lasts."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


class Chromium:
    def __init__(self, program, profile):
        ours_read, theirs_write = os.pipe()
        theirs_read, ours_write = os.pipe()

        def connect():  # Chromium reads from 3 and writes to 4
            read, write = os.dup(theirs_read), os.dup(theirs_write)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(theirs_read)
        os.close(theirs_write)
        self.read, self.write = ours_read, ours_write
        self.buffer, self.number, self.console = b"", 0, []
        page = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait(20)
        os.close(self.read)
        os.close(self.write)

    def message(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, end - time.monotonic()))
            data = os.read(self.read, 1 << 20) if ready else b""
            if not data:
                raise TimeoutError("Chromium does not answer")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, seconds=30, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if hasattr(self, "session"):
            request["sessionId"] = self.session
        os.write(self.write, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + seconds
        while True:
            m = self.message(end)
            if m.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled"):
                self.console.append(m["params"])
            if m.get("id") == self.number:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']}")
                return m["result"]

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression, seconds):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression} after {seconds} s; the page says: {self.value('document.body.innerText')}")
            time.sleep(0.05)

    def show(self, url, width, height, scheme):
        """Opens a page in a window of this size, a phone's below 600, in the light or dark scheme."""
        self.resize(width, height)
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url=url)
        self.wait(f"location.href === {json.dumps(url)} && document.readyState === 'complete'", 20)

    def resize(self, width, height):
        self.width = width
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)

    def grow(self, most=1 << 14):
        """Makes the window as high as the page, at most so many pixels."""
        self.resize(self.width, min(most, self.value("document.documentElement.scrollHeight")))

    def picture(self):
        """The window as the bytes of a PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
