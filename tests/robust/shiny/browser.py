"""A page of a headless Chromium, by the DevTools protocol over a WebSocket. The standard library is enough."""

import base64
import json
import os
import signal
import socket
import struct
import subprocess
import time
import urllib.request


class Socket:
    """Text messages over a WebSocket, as a client (RFC 6455)."""

    def __init__(self, url):
        host, path = url.removeprefix("ws://").split("/", 1)
        name, port = host.split(":")
        self.at = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.at.sendall((f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                         f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.take(1)
        if b" 101 " not in head:
            raise OSError(f"no WebSocket: {head!r}")

    def take(self, n):
        data = b""
        while len(data) < n:
            part = self.at.recv(n - len(data))
            if not part:
                raise OSError("the browser has gone")
            data += part
        return data

    def send(self, text):
        data = text.encode()
        mask = os.urandom(4)
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x81, 0x80 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, size)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, size)
        self.at.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        data = b""
        while True:
            first, size = self.take(2)
            size &= 0x7F
            if size == 126:
                size = struct.unpack("!H", self.take(2))[0]
            elif size == 127:
                size = struct.unpack("!Q", self.take(8))[0]
            part = self.take(size)
            if first & 0x0F in (0, 1, 2):
                data += part
                if first & 0x80:
                    return data.decode()


class Page:
    """One tab."""

    def __init__(self, port, url):
        asked = urllib.request.Request(f"http://127.0.0.1:{port}/json/new?{url}", method="PUT")
        with urllib.request.urlopen(asked, timeout=30) as answer:
            target = json.load(answer)
        self.socket = Socket(target["webSocketDebuggerUrl"])
        self.number = 0
        self.faults = []  # of the page's scripts
        self.ask("Runtime.enable")
        self.ask("Page.enable")

    def ask(self, method, **params):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": params}))
        while True:
            said = json.loads(self.socket.receive())
            if said.get("method") == "Runtime.exceptionThrown":
                self.faults.append(said["params"]["exceptionDetails"]["text"])
            if said.get("id") == self.number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return said["result"]

    def value(self, script):
        result = self.ask("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait(self, script, what, seconds=60):
        end = time.time() + seconds
        while not self.value(script):
            if time.time() > end:
                shown = self.value("document.body.innerText")
                raise RuntimeError(f"not within {seconds} s: {what}; the page says: {shown}")
            time.sleep(0.05)

    def resize(self, width, height=900):
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                 mobile=False)

    def screenshot(self, file):
        self.ask("Page.bringToFront")  # tabs in the background are not drawn
        shot = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(file, "wb") as to:
            to.write(base64.b64decode(shot["data"]))


class Browser:
    def __init__(self, program, folder):
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
             f"--user-data-dir={folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        file = os.path.join(folder, "DevToolsActivePort")
        end = time.time() + 60
        while not (os.path.exists(file) and os.path.getsize(file)):
            if time.time() > end or self.process.poll() is not None:
                raise RuntimeError("the browser does not start")
            time.sleep(0.05)
        with open(file) as lines:
            self.port = int(lines.readline())

    def open(self, url):
        return Page(self.port, url)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
