"""`kafka-cluster wait`: wait until conditions of a cluster are true, all at one moment."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kraftops.answers.fields import Answer, texts
from kraftops.errors import KraftopsError, UsageError, WireError
from kraftops.placement.conditions import Condition, parse_condition
from kraftops.reassign.access import ClusterAccess
from kraftops.wire.config.settings import TIMEOUT
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.options import TargetOptions, subcommand
from kraftops_cli.cluster.target import cluster_of
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.terminal.answer import print_answer
from kraftops_cli.terminal.streams import Terminal
from kraftops_terminal.escaping import escaped

_PAUSE_SECONDS = 0.5  # between two looks: a script does not notice half a second


WAIT = Answer((texts("conditions", "the conditions, which were true at one moment"),))


@dataclass(frozen=True, kw_only=True)
class WaitOptions(TargetOptions):
    """The values of the options."""

    conditions: tuple[str, ...] = option(
        "--for CONDITION",
        former=("--until",),
        multiple=True,
        required=True,
        help="A condition, such as broker=103:fenced; may be given more than once.",
    )


@subcommand(WaitOptions, answer="WAIT")
def wait(terminal: Terminal, options: WaitOptions) -> int:
    cluster = cluster_of(terminal, options)
    conditions = [parse_condition(text) for text in options.conditions]
    # The time for all may be much more than that for one question, which is asked again.
    settings = cluster.endpoints.settings
    limit = Deadline(settings.timeout)
    endpoints = replace(
        cluster.endpoints, settings=replace(settings, timeout=min(settings.timeout, TIMEOUT))
    )
    is_log = cluster.is_of_controllers
    access = ClusterAccess(
        None if is_log else endpoints, endpoints if is_log else None, deadline=limit
    )
    with access:
        _wait(access, conditions, limit)
    print_answer(
        terminal,
        WAIT.fields,
        options,
        lambda: "".join(f"{escaped(text)}: true\n" for text in options.conditions),
    )
    return 0


def _wait(access: ClusterAccess, conditions: Sequence[Condition], limit: Deadline) -> None:
    """Wait for conditions.

    Raises:
        UsageError: one of them cannot be answered by these servers.
        KraftopsError: the time is over, or the question is not permitted.
    """
    reason = ""
    is_checked = False
    while True:
        try:
            placement = access.placement()
            if not is_checked:
                _check_answers(access, conditions)
                is_checked = True
        except WireError as error:
            if not may_pass(error):
                raise
            # An earlier answer tells more than the missing time for another one.
            if not reason or not limit.is_over:
                reason = error.message
        else:
            missing = [
                text for condition in conditions if (text := condition.check(placement)) is not None
            ]
            if not missing:
                return
            reason = "; ".join(missing)
        if limit.is_over:
            raise KraftopsError(
                f"after {limit.seconds:g} s: {reason}",
                hint="--timeout SECONDS waits longer",
                code="not-in-time",
            )
        time.sleep(max(0.0, min(_PAUSE_SECONDS, limit.left)))


def _check_answers(access: ClusterAccess, conditions: Sequence[Condition]) -> None:
    """Refuse conditions that these servers cannot answer."""
    texts = [condition.text for condition in conditions]
    of_partitions = [text for text in texts if text.endswith(":empty") or text.startswith("no-")]
    if of_partitions:
        access.refuse_hidden_topics()
    of_brokers = {*texts}.difference(of_partitions)
    if not access.lists_fenced and any(text.startswith("broker=") for text in of_brokers):
        raise UsageError(
            "brokers before Kafka 4.0 do not list fenced brokers",
            hint="-C reads the metadata log, which has them",
        )
