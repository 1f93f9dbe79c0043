"""Check whether a node would start."""

from __future__ import annotations

from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import VERIFY
from ansible_collections.kraftops.kafka.plugins.plugin_utils.raw_action import RawAction


class ActionModule(RawAction):
    """The action."""

    action = VERIFY
