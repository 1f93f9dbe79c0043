"""`--check-permissions`: whether the user may do on the cluster all that a command needs."""

from __future__ import annotations

from kraftops.findings.finding import HAS_FINDINGS
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.rpc.cluster import OPERATIONS, authorized_operations
from kraftops_cli.terminal.streams import Terminal

_READ = ("DESCRIBE", "DESCRIBE_CONFIGS")
_CHANGE = (*_READ, "ALTER", "ALTER_CONFIGS")
_OF_COMMANDS = {"safe-to-stop": _READ, "problems": _READ}
"""Those of commands that only look; all others change replicas and configurations."""


def print_permissions(terminal: Terminal, form: str, command: str, access: ClusterAccess) -> int:
    """Print the permissions that a command needs; return the exit code.

    Raises:
        WireError: no broker answers.
    """
    granted = access.patiently(lambda: access.ask(authorized_operations))
    needed = {name: name in granted for name in _OF_COMMANDS.get(command, _CHANGE)}
    # Kafka hides topics silently: only who may do everything is known to see all of them.
    needed["ALL"] = len(granted) == len(OPERATIONS) or access.controllers is not None
    missing = [name for name, is_granted in needed.items() if not is_granted]
    if form == "json":
        permissions = [
            {"operation": name, "resource": "CLUSTER", "isGranted": is_granted}
            for name, is_granted in needed.items()
        ]
        terminal.answer("check-permissions", {"of": command, "permissions": permissions})
    else:
        for name, is_granted in needed.items():
            terminal.write(f"{name} on the cluster: {'granted' if is_granted else 'missing'}\n")
        if missing:
            names = " ".join(f"--operation {name}" for name in missing)
            terminal.write(f"kafka-acls --add --cluster {names} grants what is missing\n")
    return HAS_FINDINGS if missing else 0
