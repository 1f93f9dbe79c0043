"""Draw the pictures of a report for the README, with Chromium: `docs/pictures/report-*.png`.

They show the page of the report in tests/data/report, with harmless names.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from kraftops.report.page.render import page  # noqa: E402 - the tests are found from the top
from tests.helpers.browser.chromium import MISSING, browser  # noqa: E402

SAMPLE = ROOT / "tests/data/report/sample.json"
TITLE = "Broker 2 was fenced twice"
OPEN_MOMENT = "document.querySelector('#findings button.plain').click()"


def main() -> int:
    """Draw both pictures; return 1 where there is no Chromium."""
    if MISSING:
        print(MISSING)
        return 1
    document = json.loads(SAMPLE.read_text("utf-8"))
    nasty = document["title"].removeprefix("Incident of ")
    text = json.dumps({**document, "title": TITLE}).replace(json.dumps(nasty)[1:-1], "payments")
    folder = ROOT / "docs" / "pictures"
    folder.mkdir(exist_ok=True)
    with TemporaryDirectory() as temporary, browser() as chromium:
        path = Path(temporary, "report.html")
        path.write_text(page(json.loads(text)), encoding="utf-8")
        chromium.open(path, width=1160, height=760)
        (folder / "report-light.png").write_bytes(chromium.picture())
        chromium.open(path, width=1160, height=1000, dark=True)
        chromium.run(OPEN_MOMENT)
        chromium.run("document.activeElement.blur()")
        (folder / "report-dark.png").write_bytes(chromium.picture())
    return 0


if __name__ == "__main__":
    sys.exit(main())
