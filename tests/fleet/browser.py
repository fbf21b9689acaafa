"""A real browser by the WebDriver protocol (W3C): chromedriver, where one is installed."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DRIVER = shutil.which("chromedriver")
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
MISSING = "needs a browser: apt-get install chromium chromium-driver"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the key of an element in the protocol
KEYS = {"ArrowRight": "\ue014", "ArrowDown": "\ue015", "Enter": "\ue007", "Tab": "\ue004"}


class Browser:
    """One window."""

    def __init__(self, base: str, session: str) -> None:
        self._url = f"{base}/session/{session}"

    def size(self, width: int, height: int) -> None:
        """The size of the page, as on a screen of that size, in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self._cdp("Emulation.setDeviceMetricsOverride", metrics)

    def open(self, path: Path, part: str = "") -> None:
        """A file, without a server."""
        self.open_address("about:blank")  # so that another part of the same page is loaded too
        self.open_address(path.resolve().as_uri() + part)

    def open_address(self, address: str) -> None:
        """A page by its address."""
        _call(f"{self._url}/url", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """What a script returns."""
        body = {"script": script, "args": list(arguments)}
        return _call(f"{self._url}/execute/sync", body)

    def click(self, selector: str) -> None:
        """Scrolls there and clicks, as a person does."""
        _call(f"{self._url}/element/{self._element(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Keys into an element."""
        _call(f"{self._url}/element/{self._element(selector)}/value", {"text": text})

    def picture(self, path: Path) -> None:
        """The visible part as PNG."""
        path.write_bytes(base64.b64decode(_call(f"{self._url}/screenshot")))

    def log(self) -> list[str]:
        """What the browser complained of since the last call."""
        entries = _call(f"{self._url}/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries]

    def _element(self, selector: str) -> str:
        found = _call(f"{self._url}/element", {"using": "css selector", "value": selector})
        return str(found[ELEMENT])

    def _cdp(self, command: str, parameters: dict[str, Any]) -> None:
        body = {"cmd": command, "params": parameters}
        _call(f"{self._url}/goog/cdp/execute", body)


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser of its own, with a profile that is thrown away."""
    assert DRIVER is not None
    assert PROGRAM is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    driver = subprocess.Popen(
        [DRIVER, f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    base = f"http://127.0.0.1:{port}"
    try:
        with tempfile.TemporaryDirectory() as profile:
            _wait_for(f"{base}/status")
            session = _call(f"{base}/session", {"capabilities": {"alwaysMatch": _wanted(profile)}})
            yield Browser(base, session["sessionId"])
            _call(f"{base}/session/{session['sessionId']}", method="DELETE")
    finally:
        driver.terminate()
        driver.wait()


def _wanted(profile: str) -> dict[str, Any]:
    arguments = [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        f"--user-data-dir={profile}",
    ]
    return {
        "browserName": "chrome",
        "goog:chromeOptions": {"binary": PROGRAM, "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
    }


def _wait_for(url: str) -> None:
    for _ in range(200):
        try:
            _call(url)
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError("chromedriver did not start")


def _call(url: str, body: dict[str, Any] | None = None, method: str = "") -> Any:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url, data, method=method or ("GET" if body is None else "POST")
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as cause:
        raise AssertionError(f"{url}: {cause.read().decode()[:600]}") from cause
