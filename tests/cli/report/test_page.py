"""`kraftops report --output report.html`: the page has the data that `--format json` prints."""

import json
import re
import shlex
import shutil
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


@pytest.mark.parametrize("name", ["orders-0", "__consumer_offsets-0"])
def test_command_of_a_bucket_of_a_log_shows_its_records(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    shutil.copytree(Path(__file__).parents[2] / "data/dump-4.3.1/in/consumer_offsets", folder)

    (log,) = json.loads(report(str(folder), "--format", "json").text)["logs"]
    (series,) = [one for one in log["series"] if one["name"] == "records"]
    number = max(range(len(series["values"])), key=series["values"].__getitem__)
    start = series["start"] + number * series["step"]
    command = log["bucketCommand"].replace("{from}", str(start))
    words = shlex.split(command.replace("{to}", str(start + series["step"])))

    assert words[0] == "kraftops"
    found = run_here(*words[1:], program=KRAFTOPS, cwd=tmp_path)
    assert found.text.count("| offset:") == series["values"][number] > 5
