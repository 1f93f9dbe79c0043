"""A recovery is plain data for JSON."""

import json
from pathlib import Path

from kraftops.recovery.describe import describe_plan
from tests.helpers.nodes.lost_quorums import MORE, Planner, other_node, survivor


def test_logs_voters_and_steps_are_listed(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    other_node(node / "c2", 2)
    planned = plan(node, "c2")

    data = json.loads(json.dumps(describe_plan(planned, [], changed=False, backup="b")))

    assert (data["changed"], data["backup"], data["offset"], data["epoch"]) == (False, "b", 10, 3)
    assert [(log["name"], log["isChosen"], log["ahead"]) for log in data["logs"]] == [
        ("meta", True, 0),
        ("c2", False, 0),
    ]
    assert [voter["nodeId"] for voter in data["votersBefore"]] == [1, 2, 3]
    assert [voter["nodeId"] for voter in data["voters"]] == [1]
    assert data["steps"] == [
        {"action": "write", "name": "00000000000000000010.log", "bytes": planned.steps[0].size}
    ]
