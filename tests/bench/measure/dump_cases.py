"""Cases of `kafka-dump-log`: logs, commands, and their limits."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

SMALL_TIMES = 4  # as many rounds of what takes no time
SLACK = 1.3  # how far behind its bar a row may be on a log that nobody tuned the code for

METADATA, OFFSETS, USER = "--cluster-metadata-decoder", "--offsets-decoder", "--print-data-log"
ALONE = "--jobs 1"
OTHER = "--mix other"

SMALL = "metadata --size 60K"
LOGS = {
    "metadata log": "metadata --size {size} --batch 100:1000",
    "metadata log, batches of 1-5": "metadata --size {size} --batch 1:5",
    "user log, lz4": "user --size {size} --codec lz4",
    "user log, zstd": "user --size {size} --codec zstd",
    "user log, lz4, batches of 1-5": "user --size {size} --batch 1:5 --codec lz4",
    "user log, zstd, batches of 1-5": "user --size {size} --batch 1:5 --codec zstd",
    "user log of random bytes": "user --size {size} --mix bytes",
    "__consumer_offsets": "offsets --size {size}",
}
ROWS = {
    "user log, 20 headers a record": "user --size {size} --mix headers",
    "user log of JSON, gzip": "user --size {size} --mix json --codec gzip",
}
"""Logs whose rows have much more in them than Kafka's text."""
MIXED = {
    "metadata log": f"metadata --size {{size}} {OTHER} --batch 1,2:30,500:5000",
    "metadata log, batches of 1-5": f"metadata --size {{size}} {OTHER} --batch 1:5",
    **{
        f"user log, {codec}": f"user --size {{size}} {OTHER} --batch 100:800 --codec {codec}"
        for codec in ("none", "gzip", "snappy", "lz4", "zstd")
    },
    "__consumer_offsets": f"offsets --size {{size}} {OTHER}",
}
"""Logs that nobody tuned the code for."""


@dataclass(frozen=True, slots=True)
class Command:
    """A process: *tool* is `kafka`, `ours`, `before`, or `now` (ours, started like `before`).

    *log* are words to `make_logs.py`, *options* those of the tool, *more* those that Kafka's lacks.
    """

    tool: str
    log: str
    options: str
    more: str = ""
    is_piped: bool = False

    @property
    def text(self) -> str:
        """The command as one types it."""
        words = " ".join(f"kafka-dump-log {self.options} {self.more}".split())
        target = "--output FILE" if self.is_parquet else "| cat >/dev/null"
        return f"{words} --files LOG {target if self.is_parquet or self.is_piped else '>FILE'}"

    @property
    def is_parquet(self) -> bool:
        """Whether it writes a file of its own."""
        return "parquet" in self.more


@dataclass(frozen=True, slots=True)
class Case:
    """A row of the table: *ours* may take *most* times the *measure* of *peer*.

    With *starts_apart*, both less what the same command takes for 60 KB.
    """

    name: str
    ours: Command
    peer: Command
    most: float
    measure: str = "CPU"
    starts_apart: bool = False

    @property
    def is_untuned(self) -> bool:
        """Whether nobody tuned the code for this log."""
        return OTHER in self.ours.log

    @property
    def bar(self) -> float:
        """The limit of ours, as a share of the peer's."""
        return self.most * SLACK if self.is_untuned else self.most

    @property
    def title(self) -> str:
        """The name, with the kind of log."""
        return f"untuned: {self.name}" if self.is_untuned else self.name

    @property
    def commands(self) -> list[Command]:
        """The commands to run."""
        pair = [self.peer, self.ours]
        return [*pair, started(self.ours)] if self.starts_apart else pair


def started(command: Command) -> Command:
    """Return the same command, but on a log so small that it does little more than start."""
    return replace(command, log=SMALL)


def cases(size: str) -> Iterator[Case]:
    """Yield all rows, the large logs of *size*."""
    for logs in (LOGS, MIXED):
        yield from _small_cases(SMALL if logs is LOGS else f"{SMALL} {OTHER}")
        known = {name: words.format(size=size) for name, words in logs.items()}
        yield from _metadata_cases(known)
        for name, log in known.items():
            if name.startswith("user"):
                yield _beside_kafka(name, log, USER, 1 / 8)
        yield _beside_kafka("__consumer_offsets", known["__consumer_offsets"], OFFSETS, 1 / 8)
    yield _beside_kafka("1,500 small files", "small --count 1500", USER, 1 / 8)
    for name, words in ROWS.items():
        text = Command("ours", words.format(size=size), USER, ALONE)
        for form in ("json", "csv"):
            rows = replace(text, more=f"{ALONE} --format {form}")
            yield Case(f"{name}, as {form.upper()}", rows, text, 1.6)


def _small_cases(log: str) -> Iterator[Case]:
    case = _beside_kafka("60 KB metadata log, whole process", log, METADATA, 1 / 8)
    yield replace(case, measure="wall")


def _metadata_cases(logs: Mapping[str, str]) -> Iterator[Case]:
    log, short = logs["metadata log"], logs["metadata log, batches of 1-5"]
    text = Command("ours", log, METADATA, ALONE)
    kafka = Command("kafka", log, METADATA)
    yield Case("metadata log, to a file, 1 job", text, kafka, 1 / 15)
    name = "metadata log, to a file, default jobs"
    yield Case(name, replace(text, more=""), kafka, 1 / 15, "wall")
    piped = replace(text, is_piped=True)
    yield Case("metadata log, into a pipe, 1 job", piped, replace(kafka, is_piped=True), 1 / 8)
    yield _beside_kafka("metadata log, batches of 1-5, to a file, 1 job", short, METADATA, 1 / 20)
    yield _beside_kafka("metadata log, lines of batches only, 1 job", log, "", 1 / 6)
    for name, option, most, is_apart in (
        ("as JSON", "--format json", 1.6, False),
        ("as CSV", "--format csv", 1.6, False),
        ("as Parquet", "--format parquet", 5, False),
        ("--type keeping 1 of 1,000", "--type removeaccesscontrolentry", 1 / 4, False),
        ("--where value.leader=-1, start apart", "--where value.leader=-1", 1 / 2, True),
    ):
        form = replace(text, more=f"{ALONE} {option}")
        yield Case(f"metadata log, {name}", form, text, most, starts_apart=is_apart)


def _beside_kafka(name: str, log: str, options: str, most: float) -> Case:
    ours = Command("ours", log, options, ALONE)
    return Case(name, ours, Command("kafka", log, options), most)
