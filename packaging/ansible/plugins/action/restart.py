"""Restart the nodes of a cluster one after another."""

from __future__ import annotations

from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import RESTART
from ansible_collections.kraftops.kafka.plugins.plugin_utils.raw_action import RawAction


class ActionModule(RawAction):
    """The action."""

    action = RESTART
