"""The command summary."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from tests.helpers.tools.shell_session import LOG, NODE, SNAPSHOT, Shell

CLUSTER_ID = "4L6g3nShT-eMCtK--X86sw"


def told(shell: Shell) -> dict[str, str]:
    head, *lines = shell("summary").lines
    assert head.split() == ["field", "value"]
    return dict(re.split(r" {2,}", line) for line in lines)


def test_summary_has_the_health_of_the_cluster(tmp_path: Path) -> None:
    shutil.copytree(NODE, tmp_path / "n")
    (tmp_path / "n/meta.properties").write_text(f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n")

    assert told(Shell(tmp_path / "n", at_offset=549)) == {
        "cluster id": CLUSTER_ID,
        "metadata version": "4.3-IV0",
        "offset": "549",
        "time": "2026-11-21T10:50:11.725Z",
        "leader epoch": "1",
        "brokers": "1 active, 1 controlled-shutdown, 2 registered-fenced",
        "controllers": "1",
        "topics": "9",
        "partitions": "36",
        "under-replicated": "22",
        "leaderless": "10",
        "findings": "0",
        "segments": "1",
        "bytes of segments": "44056",
        "snapshots": "2",
        "bytes of snapshots": "14256",
        "end of the log": "584",
        "end of newest snapshot": "413",
        "time of newest snapshot": "2026-11-21T10:49:04.636Z",
        "age of newest snapshot": "11 h 37 min",
        "snapshot offset lag": "171",
    }


def test_summary_counts_the_end_that_a_snapshot_hides(tmp_path: Path) -> None:
    """As verify says it: the log ends before its snapshot, and files tell of a longer one."""
    shutil.copytree(NODE, tmp_path / "n")
    (log,) = (tmp_path / "n").glob("**/*.log")
    os.truncate(log, 10000)
    shell = Shell(tmp_path / "n")

    assert int(told(shell)["findings"]) == len(shell("verify").lines) > 0


def test_summary_leaves_out_unknown_fields() -> None:
    found = told(Shell(LOG))

    assert "cluster id" not in found
    assert "age of newest snapshot" not in found


def test_summary_before_the_first_record_has_no_time() -> None:
    shell = Shell(LOG, at_offset=0)

    assert "time" not in told(shell)
    found = json.loads(shell("summary", "--format", "json").out)
    assert (found["timestampMs"], found["timestamp"]) == (None, None)


def test_summary_of_a_snapshot_has_its_last_offset() -> None:
    assert told(Shell(SNAPSHOT))["offset"] == "412"
    assert told(Shell(NODE, at_offset=412))["offset"] == "412"
    assert told(Shell(NODE, at_offset=413))["offset"] == "413"
    assert told(Shell(NODE))["offset"] == "583"


@pytest.mark.parametrize("is_directory", [False, True])
def test_summary_without_the_log_has_the_state(tmp_path: Path, *, is_directory: bool) -> None:
    folder = tmp_path / "n/__cluster_metadata-0"
    folder.mkdir(parents=True)
    shutil.copy(LOG, folder)
    source = tmp_path / "n" if is_directory else folder / LOG.name
    shell = Shell(source)
    shutil.rmtree(tmp_path / "n")

    found = shell("summary")

    assert found.code == 1
    assert found.err == [f"summary: cannot read {source}: No such file or directory [not-found]"]
    assert "\ntopics " in found.out
    assert "segments" not in found.out


def test_summary_can_be_json() -> None:
    found = json.loads(Shell(NODE)("summary", "--format", "json").out)

    assert found["clusterId"] is None
    assert found["snapshotOffsetLag"] == 171
    assert found["brokers"] == {"registered-fenced": 4}
    assert found["partitions"] == 36
