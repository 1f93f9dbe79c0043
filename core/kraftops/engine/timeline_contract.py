"""The contract of a timeline: what a fold notes of the records over time, in bounded lists.

Times are in ms since the epoch. The clock of a timeline never goes back: a record with an earlier
time, or with an impossible one, counts at the time of the record before it.
"""

from typing import NamedTuple

from kraftops.engine.metadata_state import EntryChange

LEVELS = ("offline", "underMinIsr", "underReplicated")
"""Numbers of partitions: of those without a leader, under min ISR, with fewer in sync."""
COUNTS = ("records", "elections", "uncleanElections", "isrShrinks", "isrExpands")
"""Numbers of events: records, new leaders, new leaders that may lack records, changes of ISRs.

Elections are by the new leader, changes of ISRs by each broker that left or joined.
"""
STEPS = (
    *(1, 5, 10, 50, 100, 500),
    *(1000, 5000, 15_000, 60_000, 300_000, 900_000),
    *(3_600_000, 10_800_000, 21_600_000, 43_200_000, 86_400_000),
    *(604_800_000, 2_419_200_000, 31_449_600_000, 314_496_000_000),
)
"""The widths of buckets in ms; each divides the next."""
MOST_BROKERS = 4096
"""Brokers with series of their own, in their order: far more than a cluster has."""
MIN_ISR = "min.insync.replicas"
DEFAULT_MIN_ISR = 1  # of brokers (`ServerLogConfigs.MIN_IN_SYNC_REPLICAS_DEFAULT`)
BROKER_RESOURCE = 4
"""The resource of a configuration of a broker; without a name it is that of all brokers."""
KEPT_TABLES = (
    "topics",
    "brokers",
    "controllers",
    "configs",
    "quotas",
    "acls",
    "scram",
    "tokens",
    "features",
)
"""The tables of the entries whose changes are kept."""


class TimelineRequest(NamedTuple):
    """The request for a timeline from *since* on, in at most so many *buckets*.

    The latest *kept* changes of each table are kept. Times before *earliest* and after *latest* are
    impossible. The *worst* partitions and topics are reported.
    """

    since: int
    earliest: int
    latest: int
    buckets: int = 720
    kept: int = 400
    worst: int = 50
    steps: tuple[int, ...] = STEPS


class TimedChange(NamedTuple):
    """A change of an entry by the record at an address."""

    time: int
    address: int
    change: EntryChange


class Loss(NamedTuple):
    """The ms that partitions spent at each of `LEVELS`, and their elections and ISR changes.

    *number* is a partition's; of a topic it is the number of its partitions that lost something.
    *address* is that of the first record that brought trouble or a leader; None where the trouble
    is older than the timeline.
    """

    topic: str
    number: int
    is_deleted: bool
    offline: int
    under_min_isr: int
    under_replicated: int
    elections: int
    isr_changes: int
    address: int | None


class Timeline(NamedTuple):
    """The timeline; *start* and *step* are None where no record had a time.

    *series* are by name of `LEVELS` and `COUNTS` and by broker, None for all; values begin at
    *start*, a multiple of *step*, and end early where the rest is 0. *began* and *end* are the
    times of the first and last record that count. *firsts* are time and address of the first event
    of a name. *left_out* counts changes by table. *touched* are the numbers of partitions that were
    at each of `LEVELS`, *levels* those that are at the end, when all have so many *replicas*. *odd*
    counts the records with times that are impossible or before the one before, *jump* is the
    longest way back in ms, and *first_odd* the address of the first.
    """

    start: int | None
    step: int | None
    began: int | None
    end: int | None
    series: dict[tuple[str, int | None], list[int]]
    firsts: dict[str, tuple[int, int]]
    changes: list[TimedChange]
    left_out: dict[str, int]
    touched: dict[str, int]
    levels: dict[str, int]
    replicas: int
    partitions: list[Loss]
    partitions_left_out: int
    topics: list[Loss]
    topics_left_out: int
    odd: int
    jump: int
    first_odd: int | None
