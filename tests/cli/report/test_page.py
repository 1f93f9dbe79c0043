"""`kraftops report --output report.html`: the page has the data that `--format json` prints."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.helpers.tools.console import KRAFTOPS, Done, run_here

LOG = str(Path(__file__).parents[2] / "data/shell/in/n431")


def report(*args: str) -> Done:
    """Make a report in this process."""
    return run_here("report", *args, program=KRAFTOPS)


def test_page_has_the_data_of_the_json(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    title = "</script><b>What & why\u202e"

    done = report(LOG, "--title", title, "--output", str(path))
    printed = json.loads(report(LOG, "--title", title, "--format", "json").text)

    assert (done.code, done.text, done.err) == (0, "", "")
    found = re.search(r'id="report-data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert data.pop("generatedAt") <= printed.pop("generatedAt")
    assert data == printed
    assert data["title"] == title
    assert data["timeline"]["brokers"]


def test_page_without_jinja_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    path = tmp_path / "report.html"

    done = report(LOG, "--output", str(path))

    assert done.code == 1
    assert done.errors == [
        "kraftops: an HTML report needs jinja2, which is not installed",
        "hint: pip install 'kraftops[report]', or --format json",
    ]
    assert not path.exists()
    assert report(LOG, "--format", "json").code == 0
