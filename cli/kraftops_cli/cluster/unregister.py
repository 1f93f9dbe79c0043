"""`kafka-cluster unregister`: remove the registrations of brokers, after a check."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from kraftops.answers.fields import (
    Answer,
    Field,
    Missing,
    boolean,
    json_of,
    levels,
    number,
    part,
    parts,
    text,
    texts,
)
from kraftops.errors import AnswerError, KraftopsError, RefusedError, UsageError, WireError
from kraftops.outcomes import Outcome, Result, work_through
from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.net.addresses import Address
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.cluster import unregister_broker
from kraftops.wire.rpc.connection import Connection
from kraftops.wire.rpc.error_codes import BROKER_ID_NOT_REGISTERED
from kraftops.wire.rpc.leader import LeaderClient
from kraftops_cli.cluster.broker_ids import ids_text
from kraftops_cli.cluster.options import (
    TargetOptions,
    ids_option,
    names_option,
    subcommand,
    yes_option,
)
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.cluster.unregister_check import Registrations, ask_registrations
from kraftops_cli.syntax.option_fields import flag, option
from kraftops_cli.syntax.values import Duration
from kraftops_cli.terminal.outcomes import OutcomeReport, error_fields
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.prompts import agreed, can_ask

_REASON = (text("error", "code of the error"), text("message", "the error in words"))


def _known(field: Field) -> Field:
    """Fill a field from what an error knows of a broker; it is missing where that is silent."""

    def value_of(answered: _Answered) -> object:
        return error_fields(answered.unregistration).get(field.name, Missing)

    return replace(field, may_be_missing=True, value_of=value_of)


_BROKER = (
    number("id", "broker", get="unregistration.key"),
    boolean("wasRegistered", "whether it was registered, or is, with --dry-run"),
    text("outcome", "what became of it", values=Outcome, get="unregistration.outcome.value"),
    *map(
        _known,
        (
            part("overridden", "refusal that --force overrides", _REASON),
            *_REASON,
            text("hint?", "what to do"),
            text("address", "server that said so"),
            texts("addresses", "servers that did not answer"),
            number("kafkaErrorCode", "code of the server's error"),
            text("permission", "missing operation"),
            number("broker", "broker that the error is about"),
            number("replicas", "replicas on it"),
            levels("topics", "number of replicas by topic"),
        ),
    ),
)
UNREGISTER = Answer(
    (
        text("clusterId?", "cluster id"),
        boolean("changed", "whether a broker was unregistered"),
        boolean("dryRun", "whether there was nothing to change", get="is_dry_run"),
        parts("brokers", "the brokers in order", _BROKER),
    ),
    help="If an outcome is not what was asked for, the fields of a failure (failure.v2.json) are"
    " there, too.",
)
_LOOK_SECONDS = 5.0  # after a request without an answer, for the change to show
_PAUSE_SECONDS = 0.5  # between two looks


@dataclass(frozen=True, kw_only=True)
class UnregisterOptions(TargetOptions):
    """The values of the options; times are in ms."""

    ids: tuple[int, ...] = ids_option(
        text="The broker, several, or a range such as 101-120; may be given more than once."
    )
    racks: tuple[str, ...] = names_option(
        "--rack", "All brokers of a rack; may be given more than once."
    )
    all_fenced: bool = flag("--all-fenced", help="All brokers that are fenced.")
    fenced_for: int | None = option(
        "--fenced-for TIME",
        type=Duration(),
        help="Of --all-fenced or --rack, those that have been fenced for at least this time, such "
        "as 1h; only with -C.",
    )
    force: bool = flag("--force", help="Also unregister a broker that runs, or holds replicas.")
    dry_run: bool = flag("--dry-run", "-n", help="Check everything, change nothing.")
    if_registered: bool = flag("--if-registered", help="Succeed if there is no such broker.")
    yes: bool = yes_option("Do not ask for confirmation; without a terminal, no question is asked.")

    def __post_init__(self) -> None:
        """Check that brokers are chosen, and that their age can be known."""
        if not self.ids and not self.racks and not self.all_fenced:
            raise UsageError(
                "argument --id/-i is required", hint="--rack and --all-fenced choose brokers, too"
            )
        if self.fenced_for is None:
            return
        if not self.racks and not self.all_fenced:
            raise UsageError("--fenced-for goes with --all-fenced or --rack")
        if self.bootstrap_controller is None:
            raise UsageError(
                "--fenced-for needs --bootstrap-controller: only the metadata log has times"
            )


@subcommand(UnregisterOptions, answer="UNREGISTER")
def unregister(terminal: Terminal, options: UnregisterOptions) -> int:
    cluster = cluster_of(terminal, options)
    with cluster.connect() as connection:
        registrations = ask_registrations(cluster, connection, is_forced=options.force)
        chosen = _chosen(registrations, options)
        work = _Work(cluster, connection, registrations, options, chosen)
        report = OutcomeReport(
            terminal,
            "broker",
            work.sentence,
            lambda results: _answer(registrations, results, is_dry_run=options.dry_run),
            [broker.key for broker in chosen],
        )
        work.run(report.add)
    return report.finish()


def _chosen(registrations: Registrations, options: UnregisterOptions) -> list[Result[int]]:
    """Choose by ids, racks and age: each broker untried, or with why it will not be tried.

    Raises:
        RefusedError: the registrations may not be seen, by which brokers are to be chosen.
    """
    doubts: dict[int, KraftopsError | None] = dict.fromkeys(options.ids)
    if options.racks or options.all_fenced:
        for broker, doubt in _by_state(registrations, options).items():
            doubts.setdefault(broker, doubt)  # no doubt about one that is named
    chosen = []
    for broker, doubt in doubts.items():
        error = doubt or _problem(registrations, broker, options)
        outcome = Outcome.UNTRIED
        if error:
            outcome = Outcome.REFUSED if isinstance(error, RefusedError) else Outcome.FAILED
        elif not registrations.may_have(broker):
            outcome = Outcome.ALREADY
        chosen.append(Result(broker, outcome, error, _overridden(registrations, broker, options)))
    return chosen


def _by_state(
    registrations: Registrations, options: UnregisterOptions
) -> dict[int, KraftopsError | None]:
    """Choose by rack, or all that are fenced: by ID, None or why one may not be for long enough.

    Raises:
        RefusedError: the registrations may not be seen.
        KraftopsError: no broker of a rack is registered.
    """
    if registrations.fenced is None or not registrations.is_complete:
        raise RefusedError(
            f"{registrations.address}: fenced brokers cannot be seen there",
            f"that needs {registrations.missing or 'Kafka 4.0, or --bootstrap-controller'}",
            code="broker-not-visible",
        )
    unknown = sorted({*options.racks} - {*registrations.racks.values()})
    if unknown and not options.if_registered:
        raise registrations.no_rack(unknown[0])
    by_broker: dict[int, KraftopsError | None] = {}
    for broker, is_fenced in sorted(registrations.fenced.items()):
        is_of_rack = not options.racks or registrations.racks.get(broker) in options.racks
        if is_of_rack and (is_fenced or not options.all_fenced):
            by_broker[broker] = None
    if options.fenced_for is not None:
        old, doubtful = registrations.fenced_for(options.fenced_for)
        doubts = {error.known["broker"]: error for error in doubtful}
        by_broker = {
            broker: doubts.get(broker) for broker in by_broker if broker in old or broker in doubts
        }
    return by_broker


def _problem(
    registrations: Registrations, broker: int, options: UnregisterOptions
) -> KraftopsError | None:
    if not registrations.may_have(broker):
        return None if options.if_registered else registrations.not_registered(broker)
    return None if options.force else registrations.refusal(broker)


def _overridden(
    registrations: Registrations, broker: int, options: UnregisterOptions
) -> dict[str, object]:
    """Tell in JSON which refusal --force set aside: nothing if there was none."""
    refusal = registrations.refusal(broker) if options.force else None
    if refusal is None or not registrations.may_have(broker):
        return {}
    return {"overridden": {"error": refusal.code, "message": refusal.message}}


@dataclass(slots=True)
class _Work:
    """Unregistration of the brokers that were *chosen*, one by one."""

    cluster: ClusterConnections
    connection: Connection
    registrations: Registrations
    options: UnregisterOptions
    chosen: list[Result[int]]
    wanted: dict[int, Result[int]] = field(default_factory=dict)
    leader: LeaderClient | None = None

    def run(self, report: Callable[[Result[int]], None]) -> None:
        """Unregister them, unless one must not be; report each.

        Raises:
            RefusedError: the user does not agree.
        """
        is_refused = any(choice.error for choice in self.chosen)
        self.wanted = {
            choice.key: choice for choice in self.chosen if choice.outcome is Outcome.UNTRIED
        }
        if is_refused or self.options.dry_run or not self.wanted:
            for choice in self.chosen:
                report(choice)
            return
        if not self.options.yes and not _is_agreed(self.wanted):
            raise RefusedError("nothing is changed", code="not-confirmed", changed=False)
        for choice in self.chosen:
            if choice.outcome is Outcome.ALREADY:
                report(choice)
        with LeaderClient(self.connection, self._connect) as leader:
            self.leader = leader
            for result in work_through([*self.wanted], self._unregister, self._is_gone):
                fields = self.wanted[result.key].known
                report(Result(result.key, result.outcome, result.error, fields))

    def sentence(self, result: Result[int]) -> str:
        """Say in the words of Kafka's tool what became of a broker; an error is shown elsewhere."""
        if result.outcome is Outcome.DONE:
            return f"Broker {result.key} is no longer registered."
        if result.outcome is Outcome.ALREADY:
            return f"Broker {result.key} is not registered."
        if not self.options.dry_run or any(choice.error for choice in self.chosen):
            return ""
        overridden: Any = result.known.get("overridden")
        although = ""
        if overridden:
            reason = overridden["message"].removeprefix(f"{self.registrations.address}: ")
            although = f", although {reason}"
        return f"Broker {result.key} would be unregistered{although}."

    def _connect(self, address: Address) -> Connection:
        return self.cluster.connect_to(address)  # by the deadline of the present broker

    def _unregister(self, broker: int) -> bool:
        """Unregister a broker; tell whether it was registered.

        Raises:
            RefusedError: it has come back.
        """
        assert self.leader
        self.cluster.renew_deadline()
        self.connection.deadline = self.cluster.deadline_for(self.cluster.endpoints.settings)
        if not self.options.force:
            self._refuse_running(broker)  # minutes may have passed since all were checked
        try:
            self.leader.ask(lambda node: unregister_broker(node, broker))
        except AnswerError as error:
            if error.error_code != BROKER_ID_NOT_REGISTERED:
                raise
            if not self.options.if_registered:
                raise self.registrations.not_registered(broker) from error
            return False
        return True

    def _refuse_running(self, broker: int) -> None:
        """Refuse a broker that has come back.

        Raises:
            RefusedError: it runs.
        """
        if self.cluster.is_of_controllers:
            image = self.cluster.image()
            entry = image.brokers.get(broker)
            is_fenced = entry is None or image.broker_state(entry)["fenced"]
        else:
            is_complete = self.registrations.is_complete
            nodes = self.cluster.nodes(self.connection, with_fenced=is_complete).nodes
            is_fenced = all(node.is_fenced for node in nodes if node.node_id == broker)
        if not is_fenced:
            raise self.registrations.running(broker)

    def _is_gone(self, broker: int) -> bool | None:
        """Look for a while whether a broker is gone; None if its cluster does not answer."""
        end = Deadline(min(_LOOK_SECONDS, self.cluster.endpoints.settings.timeout))
        while True:
            is_gone: bool | None = None
            cluster = self.cluster.anew()
            try:
                with cluster.connect() as connection:
                    now = ask_registrations(cluster, connection, is_forced=True)
                if now.fenced is not None:
                    is_gone = not now.may_have(broker)
            except WireError:
                pass
            if is_gone or end.left < _PAUSE_SECONDS:
                return is_gone
            time.sleep(_PAUSE_SECONDS)


def _is_agreed(ids: Sequence[int] | dict[int, Result[int]]) -> bool:
    """Ask the user on a terminal; without one it does not ask, as Kafka's tool."""
    if not can_ask():
        return True
    return agreed(f"Unregister broker{'s' if len(ids) > 1 else ''} {ids_text(ids)}?")


class _Answered(NamedTuple):
    """The result about a broker; *was_registered* if it was, or with --dry-run is."""

    unregistration: Result[int]
    was_registered: bool


class _Unregistered(NamedTuple):
    """The answer with the results so far."""

    cluster_id: str | None
    changed: bool
    is_dry_run: bool
    brokers: Sequence[_Answered]


def _answer(
    registrations: Registrations, results: Sequence[Result[int]], *, is_dry_run: bool
) -> dict[str, object]:
    brokers = [
        _Answered(
            result,
            result.outcome is Outcome.DONE or (is_dry_run and registrations.may_have(result.key)),
        )
        for result in results
    ]
    has_changed = any(result.outcome is Outcome.DONE for result in results)
    answer = _Unregistered(registrations.cluster_id, has_changed, is_dry_run, brokers)
    return json_of(UNREGISTER.fields, answer)
