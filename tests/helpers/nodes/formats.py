"""Formats of a node in the working directory."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.errors import StorageError, UsageError
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.checks import check_plan
from kraftops.storage.format.execute import format_directories
from kraftops.storage.format.plan import FormatPlan, FormatRequest, Target, plan_format
from tests.helpers.nodes.node_directories import CLUSTER_ID, PROPERTIES, entries, states

NODE = Path()
A, B = "JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A"
"""Ids of directories."""
BROKER = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"}
CONTROLLER = {"process_roles": "controller", "listeners": "CONTROLLER://localhost:29093"}


def plan(cluster_id: str = CLUSTER_ID, **asked: Any) -> FormatPlan:
    return plan_format(load_config(PROPERTIES), FormatRequest(cluster_id=cluster_id, **asked))


def run(cluster_id: str = CLUSTER_ID, **asked: Any) -> list[Target]:
    planned = plan(cluster_id, **asked)
    check_plan(planned)
    return list(format_directories(planned))


def refusal(cluster_id: str = CLUSTER_ID, **asked: Any) -> str:
    """Return why a format is refused, before anything is written."""
    before = entries(NODE)
    with pytest.raises((UsageError, StorageError)) as refused:
        check_plan(plan(cluster_id, **asked))
    assert entries(NODE) == before
    return refused.value.message


def voter_id() -> bytes | None:
    log = states(NODE)["d1"].log
    return log.quorum.voters[0].directory_id if log and log.quorum.voters else None
