"""Every filter with every decoder and form has the same result on Spark as locally."""

from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from kraftops.spark.session.session import Session
from tests.helpers.logs.corpus_rows import FLAGS, LOGS, decoder_of, parsed, query_of, rows
from tests.helpers.spark.compare_local import FORMS, SOME, same
from tests.helpers.tools.console import run_here

VALUES = {
    "type": {
        "metadata": "topic,partition",
        "offsets": "OFFSET_COMMIT",
        "transaction": "transactionlog",
        "share": "sharesnapshot",
        "remote": "remotelogsegmentmetadatarecord",
        "user": "commit",
    },
    "topic": {"metadata": "old39-c", "offsets": "a.many"},
    "key": {"offsets": "g1", "transaction": "a.tx-0", "share": "a.share", "user": "key-3"},
    "offset": dict.fromkeys(FLAGS, "3..7"),
    "since": {},
    "until": {},
    "where": {
        "metadata": "partitionId=0",
        "offsets": "value.offset=0",
        "transaction": "value.producerId=0",
        "share": "version=0",
        "remote": "value.brokerId=1",
        "user": "codec='none'",
    },
}
"""Options of each filter."""
_MOST = 40

pytestmark = pytest.mark.spark


@cache
def logs(decoder: str) -> tuple[Path, ...]:
    """Return some logs of a decoder."""
    return tuple(path for path in LOGS if decoder_of(path) == decoder)[-_MOST:]


@cache
def middle(decoder: str) -> str:
    """Return a time that some records of the logs are before, and some not."""
    found = (row.timestamp for path in logs(decoder) for row in rows(path, query_of(path)))
    times = sorted(time for time in found if time is not None)
    return datetime.fromtimestamp(times[len(times) // 2] / 1000, UTC).isoformat()


def arguments(name: str, decoder: str) -> list[str]:
    """Return what asks for some records of a decoder."""
    value = middle(decoder) if name in ("since", "until") else VALUES[name].get(decoder, "nothing")
    return [FLAGS[decoder], f"--{name}", value, *map(str, logs(decoder))]


CASES = [
    pytest.param(name, decoder, FORMS[(at + to) % len(FORMS)], id=f"{name}-{decoder}")
    for (at, name), (to, decoder) in product(enumerate(VALUES), enumerate(FLAGS))
    if name != "topic" or decoder in VALUES[name]  # the local tool refuses an unknown topic
]
"""All pairs of a filter and a decoder; each of both with every form."""


@pytest.mark.parametrize(("name", "decoder", "form"), CASES)
def test_filter(session: Session, tmp_path: Path, name: str, decoder: str, form: str) -> None:
    same(tmp_path, form, *arguments(name, decoder), spark=SOME)


@pytest.mark.parametrize(("name", "decoder", "form"), CASES)
def test_filter_chooses_some(name: str, decoder: str, form: str) -> None:
    """Or else the comparison would be worth little."""
    del form
    whole = run_here(FLAGS[decoder], "--format", "json", *map(str, logs(decoder)))

    some = run_here("--format", "json", *arguments(name, decoder))

    is_there = decoder in VALUES[name] or name in ("since", "until")
    chosen = [row for row in parsed(some.text) if row["kind"] != "damage"]
    assert len(chosen) < len(parsed(whole.text))
    assert bool(chosen) == is_there
