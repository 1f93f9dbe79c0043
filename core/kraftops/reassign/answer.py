"""What `kafka-cluster operations` answers: who changes a cluster, how far, and what holds it up."""

from collections.abc import Sequence

from kraftops.answers.fields import (
    Answer,
    Field,
    boolean,
    in_some_forms,
    number,
    numbers,
    parts,
    size,
    text,
    texts,
    time,
)
from kraftops.display.columns import Cell, Column, Styled, folded
from kraftops.display.sizes import size_text
from kraftops.display.times import iso_time, span_text
from kraftops.reassign.events import events
from kraftops.reassign.obstacles import CODES
from kraftops.reassign.operations import Operation, State

_STYLES = {State.MOVING: "good", State.STALLED: "bad", State.LEFT_OVER: "warning"}


def _who(operation: Operation) -> Cell:
    if operation.author is None:
        return None
    user, host, pid, _ = operation.author
    if operation.is_running is False:
        return Styled(f"{user}@{host} (has ended)", "warning")
    return f"{user}@{host} ({pid})"


def _done_text(operation: Operation) -> str | None:
    if operation.done is None:
        return None
    text = f"{operation.done} of {operation.total}"
    amounts = operation.amounts
    if amounts is None or amounts.done is None or operation.size is None:
        return text
    return f"{text}, {size_text(amounts.done)} of {size_text(operation.size)}"


def _settings_text(operation: Operation) -> str | None:
    rate = f" {size_text(operation.throttle)}/s" if operation.throttle else ""
    brokers = ", ".join(map(str, operation.throttled))
    topics = ", ".join(operation.throttled_topics)
    settings = [
        f"throttle{rate} on {brokers or 'topics'}" if brokers or topics else "",
        f"of topics {topics}" if topics else "",
        f"cordon on {', '.join(map(str, operation.cordoned))}" if operation.cordoned else "",
    ]
    return "; ".join(filter(None, settings)) or None


def _rate_text(operation: Operation) -> str | None:
    return None if operation.amounts is None else f"{size_text(operation.amounts.rate)}/s"


def _time_left_text(operation: Operation) -> str | None:
    if operation.amounts is None or operation.amounts.seconds_left is None:
        return None
    return span_text(operation.amounts.seconds_left * 1000)


def _why(operation: Operation) -> Cell:
    return Styled("; ".join(obstacle.text for obstacle in operation.obstacles), "bad")


def _state(operation: Operation) -> Cell:
    return Styled(operation.state, _STYLES.get(operation.state, ""))


def _since(operation: Operation) -> Cell:
    return operation.author and (iso_time(operation.author.since) or "")[:19]


_OBSTACLE = (
    text("code", "what it is", values=CODES),
    text("text", "in words"),
    texts("partitions", "partitions that wait"),
)
OPERATION = (
    text("name", "its name, for cancel, resume and clear-throttles", column="OPERATION"),
    text("kind", "what it is"),
    text("state", "what it does at the moment", values=[*State], column="STATE", cell=_state),
    boolean("isOurs", "whether it has a mark of kafka-cluster"),
    text("user?", "user who began or resumed it", get="author.user"),
    text("host?", "host of that process", column=folded("WHO", 3), get="author.host", cell=_who),
    number("pid?", "id of that process", get="author.pid"),
    boolean("isRunning?", "whether that process exists; null on another host"),
    time("since?", "when it began", column=("SINCE", 4), get="author.since", cell=_since),
    numbers("brokers", "brokers that it is about; none for all"),
    number(
        "partitions?",
        "partitions that it had to move when it began; of a restart, nodes",
        get="total",
    ),
    number(
        "done?",
        "partitions that have been moved, or nodes that have restarted, by what its author noted"
        " some seconds ago or last",
        column=Column("DONE", 2),
        cell=_done_text,
    ),
    number(
        "inFlight",
        "partitions in flight",
        column=("IN FLIGHT", 1),
        get=lambda operation: len(operation.moving),
    ),
    number(
        "waiting?", "partitions to move after those in flight, noted as well", column=("WAITING", 2)
    ),
    size("bytes?", "bytes that it had to copy when it began", get="size"),
    size("bytesDone?", "bytes of these that have been copied", get="amounts.done"),
    size("bytesCopied?", "bytes of the copies in flight that are there", get="amounts.copied"),
    size(
        "bytesLeft?",
        "bytes that are to be copied, as far as partitions are known",
        column="LEFT",
        get="amounts.left",
    ),
    size(
        "bytesPerSecond?",
        "bytes copied in a second, between two looks",
        column=("RATE", 1),
        get="amounts.rate",
        cell=_rate_text,
    ),
    number(
        "secondsLeft?",
        "time left; null while the remaining bytes do not decrease",
        column="TIME LEFT",
        get="amounts.seconds_left",
        cell=_time_left_text,
    ),
    size("throttle?", "lowest rate of its throttles"),
    numbers("throttledBrokers", "brokers with a rate", get="throttled"),
    texts("throttledTopics", "topics with lists of throttled replicas of others"),
    numbers(
        "cordonedBrokers",
        "brokers with a cordon",
        column=folded("SETTINGS", 5),
        get="cordoned",
        cell=_settings_text,
    ),
    parts("obstacles", "why it does not move", _OBSTACLE, column=folded("WHY NOT"), cell=_why),
)
"""The fields of an operation."""

_REFUSED = (
    text("partition", "topic and number", get=lambda refused: str(refused[0])),
    text("message", "Kafka's reason", get=lambda refused: refused[1].message),
)
STEERED = (
    text("name", "name of the operation", get="operation.name"),
    texts("cancelledPartitions", "partitions whose reassignment was cancelled", get="cancelled"),
    parts(
        "refusedPartitions",
        "partitions whose reassignment goes on",
        _REFUSED,
        get=lambda steered: sorted(steered.refused.items()),
    ),
)
"""The fields of an operation that was cancelled."""

OPERATIONS: Sequence[Field] = (
    parts(
        "operations", "operations that are under way", OPERATION, get=lambda operations: operations
    ),
)
STEERING: Sequence[Field] = (
    boolean("changed", "whether anything was changed", get=lambda _: True),
    parts("steered", "operations that were cancelled", STEERED, get=lambda steered: steered),
)
ANSWER = Answer(
    (*in_some_forms(*OPERATIONS, *STEERING), events()),
    help="With cancel, resume and clear-throttles, steered has the operations; otherwise operations"
    " has all that is under way. A field is null if it is not known.",
)
