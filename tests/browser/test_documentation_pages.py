"""Pages of the documentation's site in Chromium: they keep nobody out, and fit a small screen."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="needs selenium")
pytest.importorskip("sphinx", reason="needs sphinx")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from documentation import write_sources  # noqa: E402
from tests.helpers.browser.chromium import MISSING, Browser, browser  # noqa: E402

pytestmark = pytest.mark.skipif(bool(MISSING), reason=MISSING)

PAGES = ("index", "guides/take-a-broker-out", "reference/codes/start-cuts-log")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build some pages only: links to the others are lost, which is a warning."""
    folder = tmp_path_factory.mktemp("site")
    write_sources(folder / "sources")
    for path in (folder / "sources").rglob("*.md"):
        if path.relative_to(folder / "sources").with_suffix("").as_posix() not in PAGES:
            path.unlink()
    command = [sys.executable, "-m", "sphinx", "-Q", "-b", "html", "sources", "html"]
    subprocess.run(command, check=True, cwd=folder)
    return folder / "html"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_page_keeps_nobody_out_and_fits_a_small_screen(
    chromium: Browser, site: Path, page: str, *, dark: bool
) -> None:
    axe = pytest.importorskip("selenium_axe_python").Axe(chromium.driver)
    chromium.resize(1280, 900)
    chromium.prefer(dark=dark)
    chromium.driver.get((site / f"{page}.html").as_uri())

    axe.inject()

    violations = axe.run()["violations"]
    assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in violations] == []
    chromium.resize(390, 900)
    assert chromium.run("return document.documentElement.scrollWidth") <= 390
