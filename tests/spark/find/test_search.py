"""find in the shards of a log, compared with find in the image of the whole log."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.engine.index_contract import RANGE_BITS
from kraftops.errors import KraftopsError
from kraftops.image.load.loading import limits_of, load
from kraftops.image.load.sources import files_of, read_plans
from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import Record, batch_bytes
from kraftops.spark.find import search
from kraftops.spark.find.partitioner import FIRST_SHARD
from kraftops.spark.find.prescan_job import CutWork, PrescanWork
from kraftops.spark.find.scan_job import PrescannedRanges, SearchedLog, scan_log
from kraftops.spark.find.search import SearchResult, cut_counted
from kraftops.spark.find.search_tasks import (
    FailedRecords,
    FindingsWork,
    ReplayWork,
    ScanWork,
    Sharding,
    ShardWork,
)
from kraftops.spark.find.shard_replay import RecordFinding, findings_image
from kraftops.spark.find.sharded_batch import EMPTY_BATCH
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from kraftops_cli.metadata_shell.spark_find import printed
from kraftops_cli.metadata_shell.spark_find_task import Find, FindRequest
from kraftops_shell.run import run_line
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import Session as Shell
from tests.helpers.image.snapshots import snapshot_of
from tests.helpers.logs.corpus_rows import EVERY_LOG, decoder_of
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import (
    FIRST_TIME,
    LogBatch,
    MetadataRecord,
    Taste,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.logs.segments import IN
from tests.helpers.tools.console import METADATA_SHELL, Done, run_here

LOG = str(IN / "meta/00000000000000000000.log")
METADATA_LOGS = [str(path) for path in EVERY_LOG if decoder_of(path) == "metadata"]
NOW = FIRST_TIME + 100_000


@dataclass
class Broadcast:
    """Stands for a broadcast."""

    value: Any


def some_tests(random: Random) -> Iterator[str]:
    """Yield some of find's flags."""
    values = {
        "-name": ("*1", "{0,a,id}", "o*", "*e"),
        "-path": ("/image/*/by*", "/local/*", "*/a/*", "/"),
        "-type": ("f", "d"),
        "-maxdepth": ("0", "2", "4"),
        "-newer-than": ("0", "3", "12", "95s", "2020-01-01"),
        "-value": ("1", "record", "(?i)A", "offset.:1", "null"),
    }
    for flag, choices in values.items():
        if random.random() < 0.4:
            yield from (flag, random.choice(choices))


def prescanned(log: SearchedLog) -> PrescannedRanges:
    """Return the results of the prescan of byte ranges that are as small as possible."""
    files, _ = next(read_plans(files_of(log.names), log.limits), ([], []))
    found = {}
    for file, ranges in zip(files, CutWork(1)(files), strict=True):
        if ranges:
            work = PrescanWork(log.dialect)((one, file.is_snapshot) for one in ranges)
            found[file.path] = list(zip(ranges, work, strict=True))
    return found


def in_shards(
    path: str, words: Sequence[str], count: int, limits: Limits, dialect: str = "kafka"
) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the lines of find, and which records failed and why, by the work of Spark's tasks."""
    request = FindRequest(path, None, None, dialect, False, False, "", NOW)
    log = SearchedLog((path,), limits, dialect, with_prior_state=True)
    scanned = prescanned(log)
    (scan,) = ScanWork(log)([scanned])
    if isinstance(scan, KraftopsError):
        raise scan
    assert scan == scan_log(log)
    sharding, find = Sharding(Broadcast(scan), count, dialect), Find(tuple(words), request)
    batches = list(ShardWork(sharding)(cut_counted(scan.all_counted, scanned)))
    batches.append((FIRST_SHARD, EMPTY_BATCH))
    Random(1).shuffle(batches)  # a shuffle keeps no order
    batches.sort(key=itemgetter(0))
    work = ReplayWork(sharding, find)
    results = [one for _, some in groupby(batches, key=itemgetter(0)) for one in work(some)]
    failed = sum(one.total for one in results if isinstance(one, FailedRecords))
    findings = sorted(one for one in results if isinstance(one, RecordFinding))
    lines = [one for one in results if type(one) is tuple]
    for at in range(0, len(findings), 3):
        numbered = [(one, at + number) for number, one in enumerate(findings[at : at + 3])]
        lines += FindingsWork(find, len(scan.findings), dialect)(numbered)
    result = SearchResult(iter(sorted(lines)), scan.findings, failed)
    assert failed == len(findings)
    lines_in_order = "\n".join(printed(result, set())).split("\n")
    return lines_in_order, failures(findings_image(findings, dialect))


def failures(image: MetadataImage) -> list[tuple[int, str]]:
    """Return the offsets of records that could not be applied, and why."""
    return [(image.record(address).offset, reason) for address, reason in image.record_findings]


def at_once(
    path: str, words: Sequence[str], limits: Limits, dialect: str = "kafka"
) -> tuple[list[str], list[tuple[int, str]]]:
    """Return the lines and failed records by the image of the whole log."""
    at = None if limits.until == Limits().until else limits.until
    time = None if limits.time == Limits().time else limits.time
    image = load(path, at_offset=at, at_time=time, dialect=dialect)
    return found_in(image, words), failures(image)


def found_in(image: MetadataImage, words: Sequence[str]) -> list[str]:
    """Return what find prints of an image."""
    out: list[str] = []
    root = tree_of(image, form=Form.OURS)
    shell = Shell(root, out.append, lambda _: None, False, is_one_shot=True)
    shell.image_source = ImageSource(image, now=lambda: NOW)
    run_line(shell, words)
    return "".join(out).removesuffix("\n").split("\n")


def spread(log: Sequence[LogBatch]) -> list[LogBatch]:
    """Return a log whose topics have so many partitions that they are spread over shards."""
    return [batch._replace(records=list(map(far_apart, batch.records))) for batch in log]


def far_apart(record: MetadataRecord) -> MetadataRecord:
    number = record.data.get("partitionId", -1)
    if number < 0:
        return record
    data = {**record.data, "partitionId": number << RANGE_BITS - 8}
    return new_record(record.name, record.version, time=record.timestamp, **data)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("count", [1, 3, 50])
def test_random_logs(tmp_path: Path, seed: int, count: int) -> None:
    """Names that change topics, transactions, what cannot be applied, and time travel."""
    random = Random(seed)
    path = tmp_path / "00000000000000000000.log"
    log = random_log(random) if seed % 2 else random_log(random, Taste(runs=False))
    path.write_bytes(log_bytes(spread(log) if seed % 3 else log))
    last = log[-1].end
    travels = [Limits(), limits_of(random.randrange(last), None)]
    times = [record.timestamp for batch in log for record in batch.records]
    travels.append(limits_of(None, random.choice(times)))
    for limits in travels:
        words = ["find", "/", *some_tests(random)]
        try:
            expected = at_once(str(path), words, limits)
        except KraftopsError as error:
            with pytest.raises(type(error)):
                in_shards(str(path), words, count, limits)
            continue

        assert in_shards(str(path), words, count, limits) == expected


@pytest.mark.parametrize("count", [1, 50])
def test_keys_and_headers(tmp_path: Path, count: int) -> None:
    """No record of the metadata has them: each of these is reported once."""
    values = [
        new_record("NoOpRecord").value,
        new_record("TopicRecord", name="t", topicId=uuid(1)).value,
        new_record("PartitionRecord", partitionId=1, topicId=uuid(1)).value,
        b"",
        new_record("BeginTransactionRecord").value,
    ]
    odd: list[tuple[bytes | None, tuple[tuple[bytes, bytes], ...]]]
    odd = [(b"key", ()), (b"", ()), (None, ((b"name", b"value"),)), (None, ())]
    records = [(key, value, headers) for key, headers in odd for value in values]
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(batch_bytes([Record(at, FIRST_TIME, *one) for at, one in enumerate(records)]))
    words = ["find", "/local/findings", "-value", "."]

    found = in_shards(str(path), words, count, Limits())

    assert found == at_once(str(path), words, Limits())
    assert len(found[1]) == 3 * len(values) + 1


@pytest.mark.parametrize("count", [1, 5])
def test_brokers_of_another_dialect_change_partitions(tmp_path: Path, count: int) -> None:
    """Records about a broker go to all shards there, since all have partitions."""
    said: list[tuple[str, dict[str, Any]]] = [
        ("RegisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 7}),
        ("UnfenceBrokerRecord", {"brokerId": 1, "brokerEpoch": 7}),
        *(("TopicRecord", {"topicId": uuid(at), "topicName": f"t{at}"}) for at in range(9)),
        *(
            ("PartitionRecord", {"partitionId": number, "topicId": uuid(at), "isr": [1, 2]})
            for at in range(10)
            for number in range(3)
        ),
        ("FenceBrokerRecord", {"brokerId": 1, "brokerEpoch": 7}),
    ]
    log = log_batches([new_record(name, dialect="kip-631", **data) for name, data in said])
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log))
    words = ["find", "/image", "-value", r"isr.:\[2\]"]

    found = in_shards(str(path), words, count, Limits(), "kip-631")

    assert found == at_once(str(path), words, Limits(), "kip-631")
    assert len(found[1]) == 3
    assert sum("byName" in line for line in found[0]) == 27


@pytest.mark.parametrize("seed", [*range(30), 243])
@pytest.mark.parametrize("count", [1, 7])
def test_changes_before_a_snapshot(tmp_path: Path, seed: int, count: int) -> None:
    """Last changes as far back as the log goes; its first segment may be missing."""
    random = Random(seed)
    made_up = [*random_log(random), *random_log(random), *random_log(random)]
    log = spread(log_batches(*(batch.records for batch in made_up)))
    whole = write_log(tmp_path / "whole", {0: [bytes(batch) for batch in log]})
    ends = sorted(random.sample(range(1, len(log)), min(2, len(log) - 1)))
    snapshots = {}
    for number in ends:
        end = log[number].base_offset
        snapshots[end, log[number - 1].epoch] = snapshot_of(load(whole, at_offset=end - 1))
    first = random.choice((0, random.randrange(ends[0] + 1)))
    cuts = sorted({first, *random.sample(range(first, len(log)), 1)})
    segments = {
        log[cut].base_offset: [bytes(batch) for batch in log[cut:until]]
        for cut, until in zip(cuts, [*cuts[1:], len(log)], strict=True)
    }
    folder = str(write_log(tmp_path / "cut", segments, snapshots))
    for offset in random.sample(range(log[-1].end), min(4, log[-1].end)):
        words = ["find", "/", "-newer-than", str(offset)]

        found = in_shards(folder, words, count, Limits())

        assert found == at_once(folder, words, Limits())


@pytest.mark.parametrize("path", METADATA_LOGS, ids=lambda path: str(Path(path).relative_to(IN)))
@pytest.mark.parametrize("limits", [Limits(), limits_of(5, None), limits_of(60, None)], ids=str)
def test_logs_of_the_corpus(path: str, limits: Limits) -> None:
    """Real logs, odd ones and damaged ones, with everything that find can ask for."""
    random = Random(f"{path} {limits}")
    for words in (
        ["/"],
        ["/image", *some_tests(random)],
        ["/local/findings/*", *some_tests(random)],
    ):
        try:
            expected = at_once(path, ["find", *words], limits)
        except KraftopsError as error:
            with pytest.raises(type(error), match=re.escape(error.message)):
                in_shards(path, ["find", *words], 5, limits)
            return

        assert in_shards(path, ["find", *words], 5, limits) == expected


SMALL = "this is a small log: without --spark it takes less time"


def same(*args: str, spark: Sequence[str] = ()) -> Done:
    """Compare find on Spark with the local one: all that is said, and the code."""
    local = run_here(*args, program=METADATA_SHELL)

    done = run_here("--spark", *spark, *args, program=METADATA_SHELL)

    assert (done.code, done.text, done.errors) == (local.code, local.text, [SMALL, *local.errors])
    return done


@pytest.mark.spark
@pytest.mark.usefixtures("session")
class TestOnSpark:
    """The whole way, by the command line."""

    shards = ("--conf", "spark.kraftops.groups=7")

    @pytest.mark.parametrize("form", ["json", "kafka"])
    def test_everything(self, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
        """Lines come to the driver in pieces, in order."""
        monkeypatch.setattr(search, "_RESULT_BYTES", 4000)

        done = same("-s", LOG, "--format", form, "find", "/", spark=self.shards)

        assert done.text.count("\n") > 200

    @pytest.mark.parametrize(
        "words",
        [
            ["/image/topics/byName/*/0"],
            ["/nothing", "/image/configs", "/image/top*"],
            ["/image", "-maxdepth", "2"],
            ["/", "-type", "f", "-name", "*1"],
            ["/image/topics/byName", "-value", "leader"],
        ],
    )
    def test_targets_and_tests(self, words: list[str]) -> None:
        same("-s", LOG, "--format", "json", "find", *words, spark=self.shards)

    def test_directory_with_a_snapshot(self) -> None:
        folder = IN / "meta"

        same("-s", str(folder), "--format", "json", "--at-offset", "100", "find", "/image")

    def test_other_commands_are_refused(self) -> None:
        done = run_here("--spark", "-s", LOG, "ls", "/", program=METADATA_SHELL)

        assert done.code == 1
        assert done.errors[0].endswith("with --spark there is only find")

    def test_missing_log(self, tmp_path: Path) -> None:
        done = run_here(
            "--spark", "-s", str(tmp_path / "0.log"), "find", "/", program=METADATA_SHELL
        )

        assert done.code == 1
        assert "cannot read" in done.err
        assert len(done.errors) == 1
