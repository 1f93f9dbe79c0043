"""`kraftops report --spark` tells the same as without."""

import json
from typing import Any

import pytest

from tests.helpers.tools.console import KRAFTOPS, run_here
from tests.spark.dump.test_command import BROKER
from tests.spark.dump.test_dump_job import SMALL


def _told(*args: str) -> dict[str, Any]:
    done = run_here("report", BROKER, "--format", "json", *args, program=KRAFTOPS)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.text)
    del found["generatedAt"]
    return found


@pytest.mark.usefixtures("session")
def test_a_report_is_that_of_the_local_tool() -> None:
    local = _told()

    assert _told("--spark", *SMALL) == local
    assert {one["kind"] for one in local["logs"]} >= {"metadata", "transaction", "user"}
