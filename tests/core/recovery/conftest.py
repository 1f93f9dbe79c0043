"""Fixtures of recoveries."""

import os
from pathlib import Path

import pytest

from kraftops.recovery.node_copies import opened_sources
from kraftops.recovery.plan import RecoveryPlan, RecoveryRequest, plan_recovery
from kraftops.storage.config.server_config import load_config
from tests.helpers.nodes.lost_quorums import Planner, nobody_runs


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Planner:
    """Return a function that plans a recovery of a node, in the directory of the node."""
    monkeypatch.setattr(os, "fsync", lambda _: None)

    def planned(
        node: Path,
        *sources: str,
        choice: str | None = None,
        voters: str = "self",
        elects_newest: bool = False,
    ) -> RecoveryPlan:
        monkeypatch.chdir(node)
        with opened_sources(sources, print) as logs:
            request = RecoveryRequest(
                sources=logs,
                choice=choice,
                voters=voters,
                host_changes={},
                elects_newest=elects_newest,
                is_forced=True,
                ask=nobody_runs,
            )
            return plan_recovery(load_config("server.properties"), request, 1_763_720_000_123)

    return planned
