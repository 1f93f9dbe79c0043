"""Chromium without a window, for pages of reports: what it draws, says and asks the network for."""

import json
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.wait import WebDriverWait

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
MISSING = (
    "" if BROWSER and DRIVER else "needs chromium and chromedriver (chromium, chromium-driver)"
)
"""Why there is no browser, or nothing."""
_SECONDS = 20
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class Browser:
    """A browser with one page at a time."""

    def __init__(self, driver: Chrome) -> None:
        self.driver = driver

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show a report in a window of a size in CSS pixels, and wait until it is drawn."""
        self.messages()
        self.requests()
        self.resize(width, height)
        self.prefer(dark=dark)
        self.driver.get(path.as_uri())
        WebDriverWait(self.driver, _SECONDS).until(
            lambda driver: driver.execute_script("return document.documentElement.dataset.ready")
        )

    def resize(self, width: int, height: int) -> None:
        """Set the size of the window in CSS pixels, each as large as a pixel of the screen."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, *, dark: bool) -> None:
        """Set the colours that the system of the reader prefers, and no movement."""
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a script of the browser returns; the page's policy does not bind it."""
        return self.driver.execute_script(script, *arguments)

    def messages(self) -> list[str]:
        """Return what the console says since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call, but those held back."""
        addresses: dict[str, str] = {}
        for entry in self.driver.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            values = event["params"]
            if event["method"] == "Network.requestWillBeSent":
                addresses[values["requestId"]] = values["request"]["url"]
            elif event["method"] == "Network.loadingFailed" and "blockedReason" in values:
                addresses.pop(values["requestId"], None)
        return list(addresses.values())

    def picture(self) -> bytes:
        """Return the window as a PNG."""
        return b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])


@contextmanager
def browser() -> Iterator[Browser]:
    """Start Chromium; it is stopped at the end."""
    assert BROWSER is not None
    options = ChromeOptions()
    options.binary_location = BROWSER
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with TemporaryDirectory(prefix="chromium") as profile:
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        driver = Chrome(options, Service(DRIVER))
        try:
            driver.get("about:blank")
            yield Browser(driver)
        finally:
            driver.quit()
