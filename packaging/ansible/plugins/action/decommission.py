"""Empty brokers, and unregister those that are empty and stopped."""

from __future__ import annotations

from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import DECOMMISSION
from ansible_collections.kraftops.kafka.plugins.plugin_utils.raw_action import RawAction


class ActionModule(RawAction):
    """The action."""

    action = DECOMMISSION
