"""The JSON of a recovery."""

import json
from pathlib import Path

from kraftops.answers.fields import json_of
from kraftops.recovery.answer import RECOVER, UNDO, Recovery
from tests.helpers.nodes.lost_quorums import MORE, Planner, other_node, survivor


def test_logs_voters_and_steps_are_listed(tmp_path: Path, plan: Planner) -> None:
    node = survivor(tmp_path / "node", *MORE)
    other_node(node / "c2", 2)
    planned = plan(node, "c2")

    recovery = Recovery(is_changed=False, backup="b", plan=planned)
    data = json.loads(json.dumps(json_of(RECOVER.fields, recovery)))

    assert (data["changed"], data["backup"], data["offset"]) == (False, "b", 10)
    assert data["epoch"] == planned.epoch
    assert [(log["name"], log["isChosen"], log["ahead"]) for log in data["logs"]] == [
        ("meta", True, 0),
        ("c2", False, 0),
    ]
    assert [voter["nodeId"] for voter in data["votersBefore"]] == [1, 2, 3]
    assert [voter["nodeId"] for voter in data["voters"]] == [1]
    assert data["steps"] == [
        {"action": "write", "name": "00000000000000000010.log", "bytes": planned.steps[0].size}
    ]


def test_undoing_has_two_fields() -> None:
    assert json_of(UNDO, Recovery(is_changed=True, backup="b")) == {"changed": True, "backup": "b"}
