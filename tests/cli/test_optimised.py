"""`kafka-cluster` where Python leaves out assertions and docstrings."""

import os
import subprocess
import sys

import pytest

from tests.helpers.tools.fake_cluster import NODES, serving

MAIN = "from kraftops_cli.main import kafka_cluster; kafka_cluster()"


@pytest.mark.parametrize("level", ["", "1", "2"])
def test_answers_are_the_same(level: str) -> None:
    with serving(list(NODES)) as peer:
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "list-endpoints", "-b", str(peer.address)],
            env={**os.environ, "PYTHONOPTIMIZE": level},
            capture_output=True,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[:3] for line in done.stdout.splitlines()[1:]] == [
        ["1", "ä.example", "9092"],
        ["22", "b", "65535"],
    ]


SNAPSHOT = """\
from kraftops.wire.net.codec import definition
fetched = definition("FetchResponse")
names = {"partition_index": 0, "snapshot_id": {"end_offset": 7, "epoch": 3}, "records": None}
body = fetched.encode(17, {"responses": [{"partitions": [names]}]})
answer, end = fetched.decode(17, memoryview(body))
found = answer.responses[0].partitions[0].snapshot_id
print(found.end_offset, found.epoch, len(body) - end)
"""


@pytest.mark.parametrize("level", ["", "1", "2"])
def test_struct_in_a_tagged_field_is_read(level: str) -> None:
    """kafka-python reads the byte behind it in an assertion."""
    done = subprocess.run(
        [sys.executable, "-c", SNAPSHOT],
        env={**os.environ, "PYTHONOPTIMIZE": level},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stdout, done.stderr) == ("7 3 0\n", "")
