"""An action of Ansible that runs kraftops by a raw command: the target needs no Python."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase
from ansible_collections.kraftops.kafka.plugins.plugin_utils.contract import (
    Action,
    BadArgumentsError,
    command_line,
    outcome,
)


class RawAction(ActionBase):  # type: ignore[misc]
    """Runs a command, and makes a result of its answer."""

    TRANSFERS_FILES = False
    _supports_check_mode = True
    action: Action

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Run the task."""
        inherited = super().run(tmp, task_vars)
        arguments = self._task.args
        is_check = bool(self._task.check_mode)
        try:
            line = command_line(self.action, arguments, is_check=is_check)
        except BadArgumentsError as error:
            return {**inherited, "failed": True, "msg": str(error)}
        completed = self._low_level_execute_command(line)
        told = outcome(self.action, arguments, completed, is_check=is_check)
        return {**inherited, **told, "cmd": line}
