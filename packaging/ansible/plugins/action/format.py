"""Format the log directories of a node, if they are not as asked."""

from __future__ import annotations

from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import FORMAT
from ansible_collections.kraftops.kafka.plugins.plugin_utils.raw_action import RawAction


class ActionModule(RawAction):
    """The action."""

    action = FORMAT
