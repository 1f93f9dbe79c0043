"""Access to the cluster that the options of a subcommand name."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

from kraftops.answers.fields import Answer, Field, boolean, json_of, parts, text
from kraftops.errors import KraftopsError, RefusedError, UsageError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.placement.disks import Disks, sizes_of
from kraftops.placement.placement import Placement
from kraftops.placement.plan import Limits
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.disks import disks_of
from kraftops.reassign.events import Event
from kraftops.reassign.moves import MoveOptions
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import OPERATIONS, authorized_operations
from kraftops.wire.rpc.endpoints import endpoints_of
from kraftops_cli.cluster.options import AccessOptions, MovingOptions, NewPlanOptions, subcommand
from kraftops_cli.live.connect import settings_of
from kraftops_cli.live.kafka_package import skip_kafka_clients
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.prompts import asked, can_ask
from kraftops_terminal.status import is_seen
from kraftops_terminal.tables import table_of, table_text

if TYPE_CHECKING:
    import click

_SHOWN = 20  # rows before "and N more": a screen
_READ = ("DESCRIBE", "DESCRIBE_CONFIGS")
_CHANGE = (*_READ, "ALTER", "ALTER_CONFIGS")
_OF_COMMANDS = {"safe-to-stop": _READ, "problems": _READ}
"""The permissions of commands that only look; all others change replicas and configurations."""


@dataclass(frozen=True, slots=True)
class Work:
    """The output, the options and the cluster of a subcommand."""

    terminal: Terminal
    options: AccessOptions
    access: ClusterAccess

    def printer(self) -> EventPrinter:
        return EventPrinter(self.terminal)

    def answer(self, fields: Mapping[str, object], text: str, command: str = "") -> None:
        """Print fields for programs, or a text for people."""
        if self.terminal.is_json:
            self.terminal.answer(command or self.terminal.command, fields)
        else:
            self.terminal.write(text)

    def show(self, fields: Sequence[Field], thing: object, text: str) -> None:
        """Print the fields of a thing for programs, or a text for people."""
        self.answer(json_of(fields, thing), text)

    def table(self, fields: Sequence[Field], things: Iterable[object]) -> str:
        return table_text(self.terminal.console, table_of(fields, things))

    def first_of(self, fields: Sequence[Field], things: Sequence[object]) -> str:
        more = len(things) - _SHOWN
        text = self.table(fields, things[:_SHOWN])
        return f"{text}and {more} more\n" if more > 0 else text

    def look(self) -> tuple[Placement, Disks]:
        """Wait until the placement is settled, then ask for log directories."""
        placement = self.access.patiently(self.access.placement_for_plan)
        return placement, disks_of(self.access, placement)

    def confirm_for(self, ids: Iterable[int], action: str) -> None:
        """Have a person type ids before an *action*; errors as `confirm`."""
        self.confirm(",".join(map(str, sorted(ids))), action)

    def confirm(self, word: str, action: str) -> None:
        """Have a person type *word* before an *action*, unless --yes is given.

        Raises:
            RefusedError: there is no terminal to ask on, or the user does not agree.
        """
        if self.options.yes:
            return
        if not can_ask():
            raise RefusedError(
                f"there is no terminal to ask whether to {action}",
                hint="--yes agrees to it",
                code="not-confirmed",
            )
        if asked(f"Type {word} to {action}").replace(" ", "") != word:
            raise RefusedError("nothing is changed", code="not-confirmed")


def access_of(terminal: Terminal, options: AccessOptions, *, needs_brokers: bool) -> ClusterAccess:
    """Read addresses and client properties; the first request connects.

    Raises:
        UsageError: no addresses are given, or an address is invalid.
        ConfigError: a file cannot be read, or has an invalid or unsupported value.
    """
    skip_kafka_clients()
    brokers, controllers = options.bootstrap_server, options.bootstrap_controller
    if brokers is None and (needs_brokers or (controllers is None and not options.snapshot)):
        missing = "--bootstrap-server/-b is" if needs_brokers else "one of -b and -C is"
        raise UsageError(
            f"argument {missing} required",
            hint="-b HOST:PORT is a broker, -C HOST:PORT a controller; -c has client properties",
        )
    settings = settings_of(terminal, options.command_config)
    of_controllers = settings
    if options.controller_config is not None:
        of_controllers = settings_of(terminal, options.controller_config)
    cluster_id = options.expect_cluster_id
    return ClusterAccess(
        endpoints_of(brokers, settings, cluster_id),
        endpoints_of(controllers, of_controllers, cluster_id),
        of_controllers,
        note=lambda line: terminal.error(f"note: {line}"),
        deadline=None if options.timeout is None else Deadline(options.timeout),
    )


def cluster_command(
    options: type[AccessOptions], *, needs_brokers: bool = True, **attributes: Any
) -> Callable[[Callable[[Work, Any], int]], click.Command]:
    """Make a subcommand of a function that works on a cluster, and close it at the end.

    With *needs_brokers*, one is connected first, so that wrong addresses fail at once.
    """

    def make(run: Callable[[Work, Any], int]) -> click.Command:
        @wraps(run)
        def run_connected(terminal: Terminal, options: AccessOptions) -> int:
            access = access_of(terminal, options, needs_brokers=needs_brokers)
            work = Work(terminal, options, access)
            with access:
                if options.check_permissions:
                    return _print_permissions(work)
                if needs_brokers:
                    access.check()
                return run(work, options)

        return subcommand(options, **attributes)(run_connected)

    return make


def limits_of(placement: Placement, options: NewPlanOptions, disks: Disks) -> Limits:
    """Check what options exclude or allow against the cluster, and take sizes from *disks*.

    Raises:
        KraftopsError: a topic that is excluded does not exist, or a broker of --to.
    """
    check_topics(placement, options.exclude_topic)
    check_registered(placement, options.to)
    return Limits(
        frozenset(options.to) or None, frozenset(options.exclude_topic), sizes=sizes_of(disks)
    )


def check_topics(placement: Placement, topics: Iterable[str]) -> None:
    """Refuse topics of an option that do not exist.

    Raises:
        KraftopsError: there is one.
    """
    for topic in sorted({*topics}.difference(placement.topics)):
        raise KraftopsError(f"topic {topic!r} does not exist", code="not-found", topic=topic)


def move_options(options: MovingOptions) -> MoveOptions:
    return MoveOptions(options.batch, options.throttle, options.stall_timeout)


def check_registered(placement: Placement, brokers: Iterable[int]) -> None:
    """Refuse brokers that are not registered.

    Raises:
        KraftopsError: one is not.
    """
    missing = sorted({*brokers} - placement.brokers.keys())
    if missing:
        registered = ", ".join(map(str, placement.brokers)) or "none"
        raise KraftopsError(
            f"broker {missing[0]} is not registered",
            hint=f"registered are: {registered}",
            code="broker-not-registered",
            brokers=missing,
        )


def _print_permissions(work: Work) -> int:
    """Print the permissions that a command needs; return the exit code.

    Raises:
        WireError: no broker answers.
    """
    terminal, access = work.terminal, work.access
    granted = access.patiently(lambda: access.ask(authorized_operations))
    needed = {name: name in granted for name in _OF_COMMANDS.get(terminal.command, _CHANGE)}
    # Kafka hides topics silently: only who may do everything is known to see all of them.
    needed["ALL"] = len(granted) == len(OPERATIONS) or access.controllers is not None
    permissions = [Permission(name, is_granted) for name, is_granted in needed.items()]
    missing = [name for name, is_granted in permissions if not is_granted]
    text = "".join(
        f"{name} on the cluster: {'granted' if is_granted else 'missing'}\n"
        for name, is_granted in permissions
    )
    if missing:
        names = " ".join(f"--operation {name}" for name in missing)
        text += f"kafka-acls --add --cluster {names} grants what is missing\n"
    answer = Permissions(terminal.command, permissions)
    work.answer(json_of(CHECK_PERMISSIONS.fields, answer), text, command="check-permissions")
    return HAS_FINDINGS if missing else 0


class Permission(NamedTuple):
    """An operation on the cluster, and whether the user may do it."""

    operation: str
    is_granted: bool


class Permissions(NamedTuple):
    """The permissions that a command needs."""

    of: str
    permissions: Sequence[Permission]


CHECK_PERMISSIONS = Answer(
    (
        text("of", "the command that needs them"),
        parts(
            "permissions",
            "what it needs",
            (
                text("operation", "as kafka-acls --operation takes it"),
                text("resource", "what it is on", values=("CLUSTER",), get=lambda _: "CLUSTER"),
                boolean("isGranted", "whether the user has it"),
            ),
        ),
    )
)


_INTERVAL = 10.0  # seconds between two lines of progress that is not news: six a minute in a log


class EventPrinter:
    """Prints events; progress on a terminal stays on one line, and is not in the answer."""

    def __init__(self, terminal: Terminal, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Make one for the output of the terminal's command; *clock* returns seconds."""
        self.events: list[Mapping[str, object]] = []
        """The events so far, for programs."""
        self._terminal = terminal
        if terminal.is_json:
            terminal.answer(terminal.command, {"events": self.events})
        self._clock = clock
        self._is_live = is_seen(-1) and not terminal.is_json
        self._last = ("", 0.0)
        self._progress = Progress(terminal.status, is_shown=False)
        self._task: Task | None = None

    def __call__(self, event: Event) -> None:
        now = self._clock()
        text = event.text
        if event.name == "progress":
            if not self._is_live and text == self._last[0] and now < self._last[1] + _INTERVAL:
                return
            self._last = (text, now)
        elif self._terminal.is_json:
            self.events.append({"event": event.name, **event.known, "text": text})
        if event.name == "progress" and self._is_live:
            self._draw(event)
        else:
            self._terminal.line(text)

    def _draw(self, event: Event) -> None:
        """Draw a bar of the partitions that are done since the first progress."""
        remaining = sum(_number(event, name) for name in ("partitions", "waiting"))
        if self._task is None or remaining > self._task.total:
            self._progress = Progress(
                self._terminal.status, is_shown=True, clock=self._clock, patience=0.0
            )
            self._task = self._progress.add(Task(remaining, unit="partitions", note=event.text))
        self._task.note = event.text
        self._progress.advance(self._task, self._task.total - remaining - self._task.done)


def _number(event: Event, name: str) -> int:
    value = event.known.get(name)
    return value if isinstance(value, int) else 0
