"""The commands what-if and skew."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kraftops.answers.fields import Field
from kraftops.answers.types import TEXT, of_kind
from kraftops.display.charts import bar
from kraftops.display.sizes import named, number_text
from kraftops.errors import UsageError
from kraftops.findings.finding import HAS_FINDINGS
from kraftops.views import skew as loads
from kraftops.views import what_if as losses
from kraftops.views.skew import Share
from kraftops.views.what_if import Loss, brokers_in, fenced_brokers, loss_of
from kraftops_shell.commands.views import printing
from kraftops_shell.commands.views.tables import require_brokers
from kraftops_shell.grammar.arguments import BadLineError, Call, number_of
from kraftops_shell.session.session import OK, Session

_MOST = 50
"""Topics and partitions in tables, unless --limit has another number."""
_BARS = {40: 5, 60: 8, 80: 12}
"""Widths of bars on terminals of up to so many columns."""
_LONGEST_BAR = 20  # a step of it is 5 %
_TEXTS = {
    losses.OFFLINE: "go offline",
    losses.NO_REPLICA: "keep no replica",
    losses.LAST_IN_SYNC: "lose their last replica in sync",
    losses.UNDER_MIN_ISR: "end below their min ISR",
}


def what_if(session: Session, call: Call) -> int:
    """Print what the loss of brokers or racks would do; return 2 if it harms a partition.

    `kafka-cluster safe-to-stop` has the same code for the same answer.
    """
    printing.check_forms(call)
    limit = number_of(call, "--limit")
    image = session.source.image
    brokers = set(map(_broker_id, _list_of(call, "--lose")))
    racks = _list_of(call, "--lose-rack")
    if not brokers and not racks:
        raise BadLineError("what-if: --lose with brokers, or --lose-rack with racks, is needed")
    require_brokers(image, sorted(brokers))
    loss = loss_of(image, brokers | brokers_in(image, racks))
    fenced = fenced_brokers(image).intersection(loss.brokers)
    code = HAS_FINDINGS if loss.hits else OK
    if call.is_json:
        session.begin_json(call).put_fields(
            {
                "offset": image.offset,
                "time": image.provenance.timestamp,
                "fenced": sorted(fenced),
                **_data(loss, racks, limit),
            }
        )
    elif printing.asks_for_csv(call):
        printing.print_csv(session, call, losses.PARTITION_COLUMNS, _rows(loss, limit))
    else:
        for line in (f"{session.source.moment}.", *_headlines(loss, fenced)):
            session.line(line)
        if not loss.hits:
            return code
        most = _MOST if limit is None else limit
        session.out("\n")
        printing.print_rows(session, losses.TOPIC_COLUMNS, loss.topics[:most])
        _print_more(session, len(loss.topics) - most, "topics")
        session.out("\n")
        printing.print_rows(session, losses.PARTITION_COLUMNS, _rows(loss, most))
        _print_more(session, len(loss.hits) - most, "partitions")
    return code


def _rows(loss: Loss, limit: int | None) -> Iterator[tuple[object, ...]]:
    return (hit.row for hit in loss.hits[:limit])


def skew(session: Session, call: Call) -> None:
    """Print leaders and replicas of brokers and racks, with bars."""
    printing.check_forms(call)
    shares = loads.skew(session.source.image)
    if call.is_json:
        printing.print_json(session, call, "shares", loads.COLUMNS, shares)
        return
    if printing.asks_for_csv(call):
        printing.print_csv(session, call, loads.COLUMNS, shares)
        return
    brokers, racks = (
        [share for share in shares if share.of == kind] for kind in ("broker", "rack")
    )
    if brokers:
        _print_shares(session, "broker", brokers)
    if racks:
        session.out("\n")
        _print_shares(session, "rack", racks)


def _print_shares(session: Session, kind: str, shares: Sequence[Share]) -> None:
    """Print a table of brokers or racks, with bars behind leaders and replicas."""
    width = session.table_console.width or _LONGEST_BAR * 10
    longest = next((bar for most, bar in _BARS.items() if width <= most), _LONGEST_BAR)
    columns = [
        column for column in loads.COLUMNS if column.name not in ("of", "rack" * (kind == "rack"))
    ]
    head = [_head(column, kind) for column in columns]
    highest = {
        name: max(getattr(share, name) for share in shares) for name in ("leaders", "replicas")
    }

    def cell(share: Share, name: str) -> object:
        value = getattr(share, name)
        if name in highest:
            digits = len(number_text(highest[name]))
            return f"{number_text(value):>{digits}} {bar(value, highest[name], longest)}".rstrip()
        return str(value) if isinstance(value, int) else value

    printing.print_rows(
        session, head, [[cell(share, column.name) for column in columns] for share in shares]
    )


def _head(column: Field, kind: str) -> Field:
    if column.name == "preferred":
        return replace(column, gives_way=2)
    name = kind if column.name == "name" else column.name
    return replace(column, name=name, type=of_kind(TEXT))


def _list_of(call: Call, flag: str) -> list[str]:
    text = call.flags.get(flag)
    return [] if text is None else [part.strip() for part in str(text).split(",")]


def _broker_id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10):
        raise UsageError(f"{text!r} is not an id of a broker", "as --lose 103,104")
    return int(text)


def _headlines(loss: Loss, fenced: Collection[int]) -> Iterator[str]:
    if fenced:
        verb = "is" if len(fenced) == 1 else "are"
        yield f"{named('broker', sorted(fenced)).capitalize()} {verb} fenced already."
    names = ", ".join(map(str, loss.brokers))
    without = f"Without broker{'s' * (len(loss.brokers) > 1)} {names}"
    if not loss.hits:
        moved = "1 leader moves" if loss.moved == 1 else f"{number_text(loss.moved)} leaders move"
        yield f"{without}: no partition is harmed; {moved}."
        return
    yield f"{without}, of {number_text(loss.partitions)} partitions"
    for result, text in _TEXTS.items():
        yield f"{number_text(loss.total(result)):>9} {text}"
    yield f"{number_text(loss.moved):>9} get another leader"


def _data(loss: Loss, racks: list[str], limit: int | None) -> dict[str, object]:
    def named(columns: tuple[Field, ...], row: tuple[object, ...]) -> dict[str, object]:
        return {column.name: value for column, value in zip(columns, row, strict=True)}

    return {
        "brokers": list(loss.brokers),
        "racks": racks,
        "partitionCount": loss.partitions,
        "noReplica": loss.total(losses.NO_REPLICA),
        "offline": loss.total(losses.OFFLINE),
        "lastInSync": loss.total(losses.LAST_IN_SYNC),
        "underMinIsr": loss.total(losses.UNDER_MIN_ISR),
        "leadersMoved": loss.moved,
        "topics": [named(losses.TOPIC_COLUMNS, row) for row in loss.topics],
        "partitions": [named(losses.PARTITION_COLUMNS, hit.row) for hit in loss.hits[:limit]],
    }


def _print_more(session: Session, count: int, what: str) -> None:
    if count > 0:
        session.line(f"and {number_text(count)} more {what}; --limit shows others")
