"""Tell what is on the log directories of a node, as the fact `kraftops`."""

from __future__ import annotations

from typing import Any

from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import FACTS
from ansible_collections.kraftops.kafka.plugins.plugin_utils.raw_action import RawAction


class ActionModule(RawAction):
    """The action."""

    action = FACTS

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run the task."""
        told = super().run(tmp, task_vars)
        if not told.get("failed"):
            told["ansible_facts"] = {"kraftops": told["answer"]}
        return told
