"""The commands topics, partitions, brokers, configs, acls, quotas and groups."""

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import islice

from kraftops.display.sizes import number_text
from kraftops.errors import UsageError
from kraftops.image.state.image import MetadataImage
from kraftops.views.columns import chosen_columns
from kraftops.views.groups import GROUPS, OFFSETS_TOPIC, groups_frame, offsets_directories
from kraftops.views.json_rows import json_rows
from kraftops.views.partitions import partitions_frame
from kraftops.views.registry import VIEWS
from kraftops.views.selection import check_sort, in_order, parsed_where, selected
from kraftops.views.view import Frame, View, values_of
from kraftops_shell.commands.views.printing import (
    asks_for_csv,
    check_forms,
    print_csv,
    print_rows,
    refuse_both,
)
from kraftops_shell.grammar.arguments import BadLineError, Call, number_of
from kraftops_shell.session.session import Session

_MOST = 200
"""Rows of a table on a terminal, unless --limit has another number."""


def table(session: Session, call: Call) -> None:
    """Print the view that has the name of the command."""
    source = session.source
    _print(
        session,
        call,
        VIEWS[call.command.name],
        lambda view: view.frame(source.image, source.show_secrets),
    )


def partitions(session: Session, call: Call) -> None:
    """Print the view of partitions, or of those of a broker or topic."""
    image = session.source.image
    topics = None
    if "--topic" in call.flags:
        topics = str(call.flags["--topic"]).split(",")
        for name in topics:
            _require_topic(image, name)
    conditions = _of_broker(image, call)
    _print(
        session, call, VIEWS["partitions"], lambda _: partitions_frame(image, topics), conditions
    )


def groups(session: Session, call: Call) -> None:
    """Print the groups in the logs of __consumer_offsets beside the metadata log.

    Raises:
        UsageError: there are no such logs.
    """
    directories = offsets_directories(session.source.sources)
    if not directories:
        raise UsageError(
            f"the metadata log has no groups, and no log of {OFFSETS_TOPIC} is beside it",
            f"kraftops dump-log --summary {OFFSETS_TOPIC}-N shows those of a broker's log"
            " directory, and kafka-consumer-groups.sh those of a running cluster",
            code="not-found",
        )
    budget = session.source.image.store.budget
    _print(session, call, GROUPS, lambda _: groups_frame(directories, budget))


def _print(
    session: Session,
    call: Call,
    view: View,
    frame_of: Callable[[View], Frame],
    conditions: Sequence[str] = (),
) -> None:
    """Print the rows of a view that the flags ask for; *conditions* must hold besides."""
    check_forms(call)
    texts = [*conditions, *([str(call.flags["--where"])] if "--where" in call.flags else [])]
    where = parsed_where(view, texts, session.source.now())
    sort = str(call.flags.get("--sort", ""))
    if "--sort" in call.flags:
        check_sort(view, sort)
    is_data = call.is_json or asks_for_csv(call)
    if "--columns" in call.flags:
        columns = chosen_columns(view.columns, str(call.flags["--columns"]))
    else:
        columns = [column for column in view.columns if column.is_usual or is_data]
    limit = number_of(call, "--limit")
    is_shown = session.table_console.is_terminal and not is_data
    if limit is None and is_shown:
        limit = _MOST
    frame = frame_of(view)
    matching = selected(frame, where)
    indexes = islice(in_order(view, frame, matching, sort), limit)
    if call.is_json:
        answer = session.begin_json(call, view.name)
        for texts in json_rows(frame, columns, indexes):
            answer.put_texts(texts)
        return
    rows = (tuple(values_of(frame, columns, index)) for index in indexes)
    if asks_for_csv(call):
        print_csv(session, call, columns, rows)
    else:
        if session.is_one_shot and view is not GROUPS:
            session.err(f"note: {session.source.moment}")
        print_rows(session, columns, rows)
        if is_shown and not matching:
            session.line(f"no {view.name}")
        if is_shown and limit is not None and len(matching) > limit:
            session.line(f"and {number_text(len(matching) - limit)} more; --limit shows others")


def _of_broker(image: MetadataImage, call: Call) -> list[str]:
    refuse_both(call, "--leader", "--follower")
    broker = number_of(call, "--broker")
    if broker is None:
        for flag in ("--leader", "--follower"):
            if flag in call.flags:
                raise BadLineError(f"argument {flag}: needs --broker")
        return []
    require_brokers(image, [broker])
    if "--leader" in call.flags:
        return [f"leader = {broker}"]
    is_on = f"{broker} in replicas"
    return [f"leader != {broker} and {is_on}" if "--follower" in call.flags else is_on]


def require_brokers(image: MetadataImage, brokers: Iterable[int]) -> None:
    """Refuse brokers that are neither registered nor have replicas.

    Raises:
        UsageError: one of them is neither.
    """
    missing = [broker for broker in brokers if broker not in image.brokers]
    if not missing:
        return
    loads = image.fold.broker_loads()
    for broker in missing:
        if broker in image.controllers:
            raise UsageError(
                f"{broker} is a controller, and has no partitions: its loss is one of the quorum",
                f"kafka-cluster safe-to-stop -C HOST:PORT --id {broker} asks the quorum that runs",
                code="broker-not-registered",
            )
        if broker not in loads:
            registered = ", ".join(map(str, sorted(image.brokers)))
            raise UsageError(
                f"there is no broker {broker}",
                f"the registered brokers are {registered}" if registered else None,
                code="broker-not-registered",
            )


def _require_topic(image: MetadataImage, name: str) -> None:
    if name in image.topic_ids:
        return
    near = get_close_matches(name, image.topic_ids, 1)
    raise UsageError(
        f"there is no topic {name!r}", f"perhaps {near[0]}" if near else None, code="not-found"
    )
