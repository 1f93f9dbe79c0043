"""Cases of `shell.py`: files, commands, and their limits."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

ALL = "`ls /image`"
HUNDRED = "100,000 partitions"
MILLION = "1,000,000 partitions"
TWELVE = "1,1,1,3,3,6,6,12,24,64"  # sizes of topics, 12 on average

SMALL = "snapshot --partitions 100"
REAL = f"snapshot --partitions 1000000 --topics {TWELVE} --out-of-sync 0.02 --shuffled 0.2"
CHANGED = 0.01
CHANGES = "changes --partitions 50000 --topics 1:50 --changes 5000000"
LOGS = {
    "log of 5,000,000 changes": CHANGES,
    "log of 200 MB, all record types, findings": (
        "metadata --size 200M --mix other --batch 1,2:30,500:5000"
    ),
    "log of 200 MB, usual mix, findings": "metadata --size 200M --batch 100:1000",
}
HEAPS = {"100": "256M", "100000": "1G", "1000000": "4G"}
REPORTED = {
    "log of 200 MB of changes": "changes --partitions 50000 --topics 1:50 --changes 4200000",
    "log of 200 MB, usual mix": LOGS["log of 200 MB, usual mix, findings"],
    "log of 200 MB, topics that come and go": "metadata --size 200M --mix churn",
    "log of 200 MB, many brokers": "metadata --size 200M --mix brokers",
    "log of 200 MB, configurations": "metadata --size 200M --mix configs",
    "log of 100,000 partitions with few changes": (
        "changes --partitions 100000 --topics 1:50 --changes 2000"
    ),
}
OURS, KAFKA, DUMP, SUMMARY, REPORT = "ours", "kafka", "dump", "summary", "report"


@dataclass(frozen=True, slots=True)
class Command:
    """A process: *tool* is `ours`, `kafka`, or another of ours.

    That is `dump` (`kafka-dump-log`), `summary` (that of `kafka-dump-log`), or `report` (`kraftops
    report`, to a file).

    *source* are words to `make_snapshots.py` or `make_logs.py`, *words* the shell's command. In
    *words*, `{other}` stands for the file of *other*, and `{topic}` for the name of a topic. A tool
    that *may_find* something may end with 2.
    """

    tool: str
    source: str
    words: str
    other: str = ""
    is_our_form: bool = False
    may_find: bool = False

    @property
    def heap(self) -> str:
        """The heap of Kafka's tool; it must hold the image."""
        return HEAPS[self.source.split()[2]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A limit of a command: *most* times the usage of *peer*, or without a peer, *most* bytes."""

    measure: str
    most: float
    peer: Command | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A command with its bars."""

    name: str
    ours: Command
    bars: tuple[Bar, ...]

    @property
    def commands(self) -> list[Command]:
        """The commands to run."""
        return [self.ours, *(bar.peer for bar in self.bars if bar.peer)]


@dataclass(frozen=True, slots=True)
class MatrixShape:
    """A shape of 100,000 partitions; *version* 2 has ELRs, *topics* are `MIN:MAX` partitions."""

    replicas: int
    topics: str
    version: int
    percent: int
    is_shuffled: bool

    @property
    def title(self) -> str:
        """The shape in words; a pattern of `--only` finds it."""
        topics = self.topics.replace(":", "-")
        version = f"v{self.version}{' with ELR' if self.version == 2 else ''}"
        order = "shuffled" if self.is_shuffled else "in order"
        return (
            f"replication {self.replicas}, topics of {topics}, {version}, "
            f"{self.percent} % out of sync, ISR {order}"
        )

    @property
    def source(self) -> str:
        """The words to `make_snapshots.py`."""
        return (
            f"snapshot --partitions 100000 --replicas {self.replicas} --topics {self.topics} "
            f"--version {self.version} --out-of-sync {self.percent / 100} "
            f"--shuffled {int(self.is_shuffled)}"
        )


MATRIX_BAR = 1 / 8  # of Kafka's CPU
SPREAD_BAR = 2  # of the best shape's CPU for each MB


def matrix() -> list[MatrixShape]:
    """Return all shapes; a single replica is in sync and in order."""
    shapes = product(range(1, 6), ("1:50", "100"), (0, 1, 2), (0, 2, 25), (False, True))
    return [
        shape
        for shape in (MatrixShape(*each) for each in shapes)
        if shape.replicas > 1 or (shape.percent == 0 and not shape.is_shuffled)
    ]


def cases() -> Iterator[Case]:
    """Yield all cases but the shapes of the matrix."""
    yield _beside_kafka(f"small snapshot, {ALL}", SMALL, "ls /image", wall=1 / 8)
    middle = "snapshot --partitions 100000"
    for words in ("find /image", "tree /"):
        yield _beside_kafka(f"{HUNDRED}, `{words}`", middle, words, wall=1 / 1.5)
    yield _view(HUNDRED, f"{middle} --topics {TWELVE} --out-of-sync 0.02 --shuffled 0.2", 1.5)
    yield _view(MILLION, REAL, 15)
    for version in (1, 2):
        yield from _real_cases(f"{MILLION}, v{version}", f"{REAL} --version {version}")
    for name, log in LOGS.items():
        dump = Command(DUMP, log, "--cluster-metadata-decoder --jobs 1")
        bars = (Bar("wall", 1.5, dump), Bar("RSS", 200e6))
        yield Case(f"{name}, {ALL}", Command(OURS, log, "ls /image", may_find=True), bars)
    for name, log in REPORTED.items():
        summary = Command(SUMMARY, log, "")
        for tool in (REPORT, OURS):
            words = ALL.strip("`") if tool == OURS else ""
            command = Command(tool, log, words, may_find=True)
            bars = (Bar("CPU", 3, summary), Bar("wall", 3, summary))
            yield Case(f"{name}, {'replay' if words else tool} beside a summary", command, bars)


def _real_cases(name: str, source: str) -> Iterator[Case]:
    words = "ls /image/topics/byName"
    listing, kafka = Command(OURS, source, words), Command(KAFKA, source, words)
    bars = (Bar("CPU", 1 / 10, kafka), Bar("wall", 1 / 4, kafka), Bar("RSS", 100e6))
    yield Case(f"{name}, `{words}`", listing, bars)
    for words, most in (
        ("summary", 2),
        ("ls /image/topics/byState/underReplicated", 2),
        ("find /image/topics/byName", 4),
    ):
        command = Command(OURS, source, words, is_our_form=not words.startswith("find"))
        yield Case(f"{name}, `{words}`", command, (Bar("CPU", most, listing),))
    words = "diff source:{other} /image"
    older = f"{source} --changed {CHANGED}"
    command = Command(OURS, source, words, older, is_our_form=True, may_find=True)
    yield Case(
        f"{name}, `diff` with another, {CHANGED:.0%} of them changed",
        command,
        (Bar("CPU", 4, listing),),
    )
    words = "cat /image/topics/byName/{topic}/0"
    yield _beside_kafka(f"{name}, `cat` of one", source, words, wall=1 / 2, rss=1 / 7)


def _view(name: str, source: str, seconds: float) -> Case:
    """Return the case of a view with all columns: 15 µs of CPU a row, and the image's memory."""
    listing = Command(OURS, source, "ls /image/topics/byName")
    command = Command(OURS, source, "partitions --format json", is_our_form=True)
    bars = (Bar("CPU", seconds), Bar("RSS", 1.1, listing))
    return Case(f"{name}, `partitions` as JSON", command, bars)


def _beside_kafka(name: str, source: str, words: str, **most: float) -> Case:
    kafka = Command(KAFKA, source, words)
    names = {"wall": "wall", "rss": "RSS"}
    bars = tuple(Bar(names[measure], share, kafka) for measure, share in most.items())
    return Case(name, Command(OURS, source, words), bars)
