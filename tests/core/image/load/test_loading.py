"""Images are loaded from files, directories and streams, with findings."""

import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.errors import KraftopsError, SourceError, UsageError
from kraftops.image.load.loader import Loader
from kraftops.image.load.loading import load
from kraftops.image.replay.replay import Replay
from kraftops.image.state.findings import (
    BAD_SNAPSHOT,
    CUTS_SHORT,
    DAMAGE,
    EPOCH,
    GAP,
    LATE_START,
    REPEAT,
)
from kraftops.image.state.image import MetadataImage
from kraftops.log.batch import CONTROL, Record
from kraftops.log.log_file import LogFile
from kraftops.schema.compile import compiled
from kraftops.schema.tables import messages
from tests.helpers.image.model import model_of, state_of
from tests.helpers.logs.metadata_logs import (
    FOOTER,
    control_batch,
    snapshot_bytes,
    voters_batch,
    write_log,
)
from tests.helpers.logs.random_logs import (
    FIRST_TIME,
    LogBatch,
    MetadataRecord,
    cut,
    leader_change,
    log_batches,
    log_bytes,
    new_record,
    random_log,
    uuid,
)
from tests.helpers.logs.segments import batches_of
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.corpus import SHELL, listing

REAL = SHELL / "in"
NODES = ("n332", "n391", "n431")
PARTITION = "__cluster_metadata-0"
SEGMENT = f"{PARTITION}/00000000000000000000.log"
RELEASE = new_record("FeatureLevelRecord", name="metadata.version", featureLevel=30)


def topics(*numbers: int) -> list[MetadataRecord]:
    """Return records of topics named by numbers."""
    return [new_record("TopicRecord", topicId=uuid(one), name=str(one)) for one in numbers]


def names(image: MetadataImage) -> set[str]:
    return set(image.topic_ids)


def kinds(image: MetadataImage) -> list[str]:
    return [finding.code for finding in image.findings]


def snapshot_of(*numbers: int) -> bytes:
    """Return a snapshot that holds these topics."""
    return snapshot_bytes(*map(bytes, log_batches([RELEASE, *topics(*numbers)])), end=1)


def segment(first: int, *numbers: int) -> list[bytes]:
    """Return batches of one topic each, from offset *first* on."""
    return [
        bytes(batch) for batch in log_batches(*([one] for one in topics(*numbers)), first=first)
    ]


class TestFiles:
    @pytest.mark.parametrize("node", NODES)
    @pytest.mark.parametrize("place", [".", PARTITION, SEGMENT])
    def test_real_logs_are_loaded_from_file_or_directory(self, node: str, place: str) -> None:
        image = load(REAL / node / place)

        assert names(image) & {"compacted", "leaderless"}
        assert not kinds(image)

    @pytest.mark.parametrize("node", NODES)
    def test_bootstrap_checkpoint_is_loaded(self, node: str) -> None:
        image = load(REAL / node / "bootstrap.checkpoint")

        assert image.metadata_version
        assert not kinds(image)

    def test_bootstrap_checkpoint_is_read_without_other_files(self, tmp_path: Path) -> None:
        (tmp_path / "bootstrap.checkpoint").write_bytes(snapshot_of(1))
        assert names(load(tmp_path)) == {"1"}

        write_log(tmp_path, {0: []})
        assert names(load(tmp_path)) == {"1"}

        write_log(tmp_path, {0: segment(0, 2)})
        assert names(load(tmp_path)) == {"2"}

    def test_snapshot_at_offset_zero_has_a_voter_set_and_no_state(self, tmp_path: Path) -> None:
        voters = voters_batch(1, (1, uuid(5)))
        folder = write_log(tmp_path, {0: []}, {(0, 0): snapshot_bytes(voters, end=2)})
        (tmp_path / "bootstrap.checkpoint").write_bytes(snapshot_of(1))

        image = load(tmp_path)

        assert names(image) == {"1"}
        assert image.quorum.voters is not None
        shown: Any = image.read_control(image.quorum.voters)["voters"]
        assert [one["voterId"] for one in shown] == [1]
        assert load(next(folder.glob("*.checkpoint"))).quorum.voters is not None

    def test_newest_snapshot_is_read_and_the_segments_after_it(self, tmp_path: Path) -> None:
        write_log(
            tmp_path,
            {0: segment(0, 1, 2, 3), 3: segment(3, 4, 5)},
            {(1, 1): snapshot_of(1), (4, 1): snapshot_of(20)},
        )

        image = load(tmp_path)

        assert names(image) == {"20", "5"}  # of the segments, what the snapshot has counts not
        assert image.provenance.offset == 4
        assert not kinds(image)

    def test_epoch_comes_before_offset_in_the_order_of_snapshots(self, tmp_path: Path) -> None:
        write_log(tmp_path, {}, {(9, 1): snapshot_of(1), (4, 2): snapshot_of(2)})

        assert names(load(tmp_path)) == {"2"}

    def test_log_continues_inside_a_batch_after_a_snapshot(self, tmp_path: Path) -> None:
        (batch,) = log_batches(topics(1, 2, 3))
        write_log(tmp_path, {0: [bytes(batch)]}, {(2, 1): snapshot_of(10)})

        assert names(load(tmp_path)) == {"10", "3"}

    @pytest.mark.parametrize(
        ("offset", "expected"), [(0, {"1"}), (1, {"1", "2"}), (2, {"30"}), (3, {"30", "4"})]
    )
    def test_snapshot_for_an_offset_is_one_before_it(
        self, offset: int, expected: set[str], tmp_path: Path
    ) -> None:
        write_log(tmp_path, {0: segment(0, 1, 2, 3, 4)}, {(3, 1): snapshot_of(30)})

        assert names(load(tmp_path, at_offset=offset)) == expected

    @pytest.mark.parametrize(("time", "expected"), [(9, {"1"}), (10, {"30"}), (11, {"30", "3"})])
    def test_snapshot_for_a_time_is_one_before_it(
        self, time: int, expected: set[str], tmp_path: Path
    ) -> None:
        """A snapshot covers records up to the time in its header."""
        log = [
            new_record("TopicRecord", time=when, topicId=uuid(one), name=str(one))
            for one, when in ((1, 9), (2, 10), (3, 11))
        ]
        header = {"version": 0, "lastContainedLogTimestamp": 10}
        value = compiled(messages("control")["SnapshotHeaderRecord"], 0).write(header)
        record = Record(0, FIRST_TIME, bytes(2) + (3).to_bytes(2), value)
        snapshot = batch_bytes([record], attributes=CONTROL) + snapshot_of(30)
        write_log(tmp_path, {0: [log_bytes(log_batches(log))]}, {(2, 1): snapshot})

        assert names(load(tmp_path, at_time=time)) == expected

    def test_offset_before_the_remaining_log_is_refused(self, tmp_path: Path) -> None:
        write_log(tmp_path, {3: segment(3, 4)}, {(3, 1): snapshot_of(30)})

        with pytest.raises(UsageError, match="is the oldest snapshot") as error:
            load(tmp_path, at_offset=1)
        assert error.value.hint == "the earliest state that can be shown is that at offset 2"

    def test_several_files_are_one_log(self, tmp_path: Path) -> None:
        folder = write_log(
            tmp_path, {0: segment(0, 1, 2), 2: segment(2, 3)}, {(1, 1): snapshot_of(9)}
        )
        snapshot, *segments = sorted(folder.iterdir(), key=lambda path: path.suffix)

        assert names(load(segments[::-1])) == {"1", "2", "3"}
        assert names(load([*segments, snapshot])) == {"9", "2", "3"}
        assert names(load(iter([str(snapshot)]))) == {"9"}

    def test_file_of_any_name_is_a_segment(self, tmp_path: Path) -> None:
        path = tmp_path / "copy"
        path.write_bytes(b"".join(segment(0, 1)))

        assert names(load(path)) == {"1"}

    @pytest.mark.parametrize("suffix", [".gz", ".xz"])
    @pytest.mark.parametrize(
        "file", [SEGMENT, f"{PARTITION}/00000000000000000413-0000000001.checkpoint"]
    )
    def test_archives_are_read_like_their_content(
        self, suffix: str, file: str, tmp_path: Path
    ) -> None:
        raw = (REAL / "n431" / file).read_bytes()
        path = tmp_path / (Path(file).name + suffix)
        path.write_bytes(gzip.compress(raw) if suffix == ".gz" else lzma.compress(raw))

        assert state_of(load(path)) == state_of(load(REAL / "n431" / file))

    def test_standard_input_is_a_log(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_bytes(b"".join(segment(0, 1)))
        with path.open("rb") as file, standard_input(file.fileno()):
            image = load("-")
        path.unlink()

        assert names(image) == {"1"}
        assert image.provenance.offset == 0

    def test_batches_in_memory_are_loaded(self) -> None:
        log = random_log(Random(9))
        image = MetadataImage()
        source = image.store.add_source("a controller", None)

        assert Loader(Replay(image)).add(
            (one for one in batches_of(log_bytes(log))), source, "a controller"
        )

        assert state_of(image) == model_of(log)

    def test_progress_counts_all_bytes(self) -> None:
        read: list[int] = []
        load(REAL / "n431" / SEGMENT, progress=read.append)

        assert sum(read) == (REAL / "n431" / SEGMENT).stat().st_size

    def test_unknown_dialect_is_refused(self) -> None:
        with pytest.raises(UsageError, match="no dialect 'latin'"):
            load(REAL / "n431", new_image=partial(MetadataImage, "latin"))


@contextmanager
def standard_input(descriptor: int) -> Iterator[None]:
    """Have a file for standard input."""
    kept = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


class TestReadOnly:
    def test_loading_locks_and_writes_no_file(self, tmp_path: Path) -> None:
        import fcntl

        folder = tmp_path / "d"
        shutil.copytree(REAL / "n431", folder)
        (folder / ".lock").touch()
        before = listing(folder)

        with (folder / ".lock").open("r+") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            image = load(folder)
            state_of(image)
            # Whoever closes any descriptor of a file loses the locks on it.
            held = os.fork()
            if not held:
                try:
                    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    os._exit(0)
                os._exit(1)
            assert os.waitpid(held, 0)[1] == 0

        assert listing(folder) == before

    def test_read_permission_is_enough(self, tmp_path: Path) -> None:
        folder = tmp_path / "d"
        shutil.copytree(REAL / "n431", folder)
        opened: list[int] = []
        real = os.open

        def only_reading(path: str, flags: int, *rest: int, **more: int) -> int:
            opened.append(flags & os.O_ACCMODE)
            return real(path, flags, *rest, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "open", only_reading)
            load(folder)

        assert set(opened) == {os.O_RDONLY}


LOG = log_batches([RELEASE, *topics(1, 2)], topics(3), topics(4, 5, 6), topics(7))


class TestDamage:
    def test_truncated_log_is_shown_up_to_the_last_whole_batch(self, tmp_path: Path) -> None:
        """At every byte."""
        raw, path = log_bytes(LOG), tmp_path / "log"
        ends = [len(log_bytes(LOG[:count])) for count in range(len(LOG) + 1)]
        for size in range(1, len(raw)):
            path.write_bytes(raw[:size])
            whole = sum(end <= size for end in ends) - 1
            if not whole:
                with pytest.raises(SourceError, match="not a whole batch"):
                    load(path)
                continue

            image = load(path)

            assert state_of(image) == model_of(LOG[:whole])
            assert kinds(image) == [DAMAGE] * (size not in ends)

    @pytest.mark.parametrize("number", range(len(LOG)))
    @pytest.mark.parametrize("at", [17, 21, 61, -1], ids=["crc", "attributes", "record", "end"])
    def test_log_is_shown_up_to_a_wrong_checksum(
        self, number: int, at: int, tmp_path: Path
    ) -> None:
        batches = [bytearray(bytes(batch)) for batch in LOG]
        batches[number][at] ^= 0x40
        path = tmp_path / "log"
        path.write_bytes(b"".join(batches))

        if not number:
            with pytest.raises(SourceError, match="checksum"):
                load(path)
            return
        image = load(path)

        assert state_of(image) == model_of(LOG[:number])
        (finding,) = image.findings
        assert finding.code in CUTS_SHORT
        assert finding.place.position == len(log_bytes(LOG[:number]))
        assert finding.text == "the checksum of a batch is wrong; what follows is not read"

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            pytest.param(b"", "there are no metadata records in it", id="empty"),
            pytest.param(b"\0" * 100, "there are no metadata records in it", id="zeros"),
            pytest.param(b"not a log at all, whatever its name", "batch", id="garbage"),
            pytest.param(
                b"\0" * 8 + b"\0\0\0\x40" + b"\0\0\0\0\1" + bytes(64), "magic 1", id="magic"
            ),
        ],
    )
    def test_empty_files_are_errors(self, data: bytes, message: str, tmp_path: Path) -> None:
        path = tmp_path / "00000000000000000000.log"
        path.write_bytes(data)

        with pytest.raises(SourceError, match=message):
            load(path)

    def test_missing_file_and_empty_directory_are_errors(self, tmp_path: Path) -> None:
        with pytest.raises(SourceError, match="No such file or directory"):
            load(tmp_path / "nope")
        with pytest.raises(SourceError, match="there is no metadata log"):
            load(tmp_path)
        with pytest.raises(SourceError, match="there is no metadata log"):
            load([])

    def test_zeros_after_the_last_batch_are_padding(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_bytes(log_bytes(LOG) + bytes(1000))

        image = load(path)

        assert not kinds(image)
        assert state_of(image) == model_of(LOG)

    def test_zeros_before_another_segment_are_damage(self, tmp_path: Path) -> None:
        folder = write_log(tmp_path, {0: [*segment(0, 1), bytes(100)], 1: segment(1, 2)})

        image = load(folder)

        assert names(image) == {"1"}
        assert kinds(image) == [DAMAGE]

    def test_bytes_after_the_counted_records_are_damage(self, tmp_path: Path) -> None:
        batch = bytearray(bytes(LOG[0]))
        batch[57:61] = (2).to_bytes(4)
        path = tmp_path / "log"
        path.write_bytes(resealed(batch))

        image = load(path)

        assert names(image) == {"1"}
        (finding,) = image.findings
        assert "bytes are left after 2 records" in finding.text

    @pytest.mark.parametrize("count", [4, 1 << 30, -1])
    def test_missing_records_are_damage(self, count: int, tmp_path: Path) -> None:
        """The records that are there count, up to the offset of the last one."""
        batch = bytearray(bytes(LOG[1]))
        batch[57:61] = count.to_bytes(4, signed=True)
        path = tmp_path / "log"
        path.write_bytes(bytes(LOG[0]) + resealed(batch))

        image = load(path)

        assert names(image) == ({"1", "2"} if count < 0 else {"1", "2", "3"})
        assert image.provenance.offset == (2 if count < 0 else 3)
        assert kinds(image) == [DAMAGE]

    @pytest.mark.parametrize("size", [-1, -40, 100, 0])
    def test_damaged_newest_snapshot_is_skipped(self, size: int, tmp_path: Path) -> None:
        newest = snapshot_of(20)
        newest = newest[:size] if size else newest[:100] + b"\xff" + newest[101:]
        write_log(
            tmp_path,
            {0: segment(0, 1, 2, 3)},
            {(1, 1): snapshot_of(10), (2, 1): newest},
        )

        image = load(tmp_path)

        assert names(image) == {"10", "2", "3"}
        assert kinds(image) == [BAD_SNAPSHOT]

    def test_all_snapshots_damaged_but_the_log_is_whole(self, tmp_path: Path) -> None:
        damaged = snapshot_of(9)[:-1]
        write_log(tmp_path, {0: segment(0, 1, 2)}, {(1, 1): damaged, (2, 1): damaged})

        image = load(tmp_path)

        assert names(image) == {"1", "2"}
        assert kinds(image) == [BAD_SNAPSHOT] * 2

    def test_damaged_only_snapshot_is_shown_up_to_its_damage(self, tmp_path: Path) -> None:
        folder = write_log(tmp_path, {}, {(5, 1): snapshot_of(1)[:-1]})

        for source in (tmp_path, next(folder.iterdir())):
            image = load(source)

            assert names(image) == {"1"}
            assert kinds(image) == [DAMAGE]

    def test_snapshot_without_its_footer_is_not_whole(self, tmp_path: Path) -> None:
        raw, footer = snapshot_of(1), control_batch(1, FOOTER)
        path = tmp_path / "00000000000000000005-0000000001.checkpoint"
        path.write_bytes(raw.removesuffix(footer))

        (finding,) = load(path).findings
        assert finding.text == "the snapshot has no footer: its end is missing"


def resealed(batch: bytearray) -> bytes:
    """Return a batch with the checksum that it should have."""
    from google_crc32c import value

    batch[17:21] = value(bytes(batch[21:])).to_bytes(4)
    return bytes(batch)


class TestContinuity:
    def test_log_without_its_beginning_has_a_finding(self, tmp_path: Path) -> None:
        write_log(tmp_path, {4: segment(4, 1)})

        image = load(tmp_path)

        assert names(image) == {"1"}
        (finding,) = image.findings
        assert finding.code == LATE_START
        assert finding.text == "the log begins at offset 4, and there is no snapshot before it"

    @pytest.mark.parametrize("snapshots", [{}, {(2, 1): snapshot_of(9)}], ids=["log", "snapshot"])
    def test_gap_is_found_and_read_over(
        self, snapshots: dict[tuple[int, int], bytes], tmp_path: Path
    ) -> None:
        first = {} if snapshots else {0: segment(0, 1, 2)}
        write_log(tmp_path, {**first, 5: segment(5, 3)}, snapshots)

        image = load(tmp_path)

        assert "3" in names(image)
        (finding,) = image.findings
        assert (finding.code, finding.text) == (GAP, "offsets 2 to 4 are missing")

    def test_older_epoch_after_a_newer_one_is_found(self, tmp_path: Path) -> None:
        late = log_batches(topics(1), epoch=3) + log_batches(topics(2), epoch=2, first=1)
        path = tmp_path / "log"
        path.write_bytes(log_bytes(late))

        (finding,) = load(path).findings
        assert (finding.code, finding.text) == (EPOCH, "leader epoch 2 comes after 3")

    def test_repeated_offsets_are_left_out(self, tmp_path: Path) -> None:
        """Nothing is applied twice, also of a batch that goes on where the first one ended."""
        create = new_record("TopicRecord", topicId=uuid(1), name="a")
        partition = new_record("PartitionRecord", 1, partitionId=0, topicId=uuid(1), leaderEpoch=0)
        move = new_record("PartitionChangeRecord", partitionId=0, topicId=uuid(1), leader=4)
        first, second = tmp_path / "1", tmp_path / "2"
        log = log_batches([create, partition], [move])
        first.write_bytes(log_bytes(log))
        second.write_bytes(log_bytes([log[1], LogBatch(2, [move, move])]))

        image = load([first, second])

        state = image.partition(uuid(1), 0)
        assert state
        assert state.leader_epoch == 2
        (finding,) = image.findings
        assert (finding.code, finding.place.file) == (REPEAT, str(second))

    def test_log_of_another_topic_is_refused(self, tmp_path: Path) -> None:
        """An empty image would say that there is nothing in the cluster."""
        path = tmp_path / "log"
        foreign = batch_bytes([Record(0, 0, None, b"no metadata"), Record(1, 0, b"k", None)])
        path.write_bytes(leader_change(0, 3) + foreign)

        with pytest.raises(SourceError, match="no record in it can be read"):
            load(path)
        with pytest.raises(SourceError, match="no record in it can be read"):
            load(SHELL / "in/n431", new_image=partial(MetadataImage, "kip-631-draft"))

        path.write_bytes(b"".join([foreign, *segment(2, 1)]))
        assert names(load(path)) == {"1"}
        assert not names(load(path, at_offset=1))

    def test_control_batches_are_part_of_the_log(self, tmp_path: Path) -> None:
        path = tmp_path / "log"
        path.write_bytes(b"".join([leader_change(0, 3), *segment(1, 1), leader_change(2, 2, 4)]))

        image = load(path)

        assert not kinds(image)
        assert image.provenance[:2] == (1, 1)
        assert image.quorum.leader is not None
        assert image.read_control(image.quorum.leader)["leaderId"] == 2
        assert image.record(image.quorum.leader).epoch == 4

    def test_log_before_the_snapshot_names_only_the_leader(self, tmp_path: Path) -> None:
        before = [leader_change(0, 2), voters_batch(1, (8, uuid(8))), *segment(2, 1)]
        voters = voters_batch(1, (1, uuid(5)))
        write_log(tmp_path, {0: before}, {(3, 1): snapshot_bytes(voters, end=2)})

        image = load(tmp_path)

        assert image.quorum.leader is not None
        assert image.read_control(image.quorum.leader)["leaderId"] == 2
        assert image.quorum.voters is not None
        shown: Any = image.read_control(image.quorum.voters)["voters"]
        assert [one["voterId"] for one in shown] == [1]
        assert not kinds(image)


class TestGrowingLogs:
    def test_directory_is_read_up_to_the_last_whole_batch(self, tmp_path: Path) -> None:
        """At whatever byte the server is."""
        raw = log_bytes(LOG)
        folder = write_log(tmp_path, {0: []})
        path = folder / "00000000000000000000.log"
        ends = [len(log_bytes(LOG[:count])) for count in range(1, len(LOG) + 1)]
        for size in range(ends[0], len(raw) + 1, 7):
            path.write_bytes(raw[:size])

            image = load(tmp_path)

            assert state_of(image) == model_of(LOG[: sum(end <= size for end in ends)])
            assert not kinds(image)

    def test_image_stays_the_same_while_its_log_grows(self, tmp_path: Path) -> None:
        folder = write_log(tmp_path, {0: segment(0, 1)})
        image = load(tmp_path)
        before = state_of(image)

        with (folder / "00000000000000000000.log").open("ab") as file:
            file.write(segment(1, 2)[0])

        assert state_of(image) == before
        assert names(load(tmp_path)) == {"1", "2"}

    def test_file_deleted_before_opening_is_searched_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = write_log(tmp_path, {0: segment(0, 1)}, {(1, 1): snapshot_of(9)})
        real = LogFile.__init__

        def replaced(self: LogFile, path: str) -> None:
            if "0001.checkpoint" in path and "0000001-" in path:
                os.unlink(path)
                write_log(tmp_path, {}, {(2, 1): snapshot_of(8)})
                monkeypatch.setattr(LogFile, "__init__", real)
            real(self, path)

        monkeypatch.setattr(LogFile, "__init__", replaced)

        assert names(load(folder)) == {"8"}

    def test_files_deleted_at_each_try_are_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = write_log(tmp_path, {0: segment(0, 1)})

        def gone(self: LogFile, path: str) -> None:
            if os.path.exists(path):
                os.rename(path, tmp_path / "away")
            raise SourceError(f"cannot read {path}: No such file or directory")

        def listed(path: str) -> list[str]:
            if (tmp_path / "away").exists():
                os.rename(tmp_path / "away", folder / "00000000000000000000.log")
            return real(path)

        real = os.listdir
        monkeypatch.setattr(LogFile, "__init__", gone)
        monkeypatch.setattr(os, "listdir", listed)

        with pytest.raises(SourceError, match="No such file or directory"):
            load(folder)


class TestHeldImages:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "log"
        path.write_bytes(log_bytes(LOG))
        return path

    def test_deleted_file_can_still_be_read(self, path: Path) -> None:
        """It is still open."""
        image = load(path)
        path.unlink()

        assert state_of(image) == model_of(LOG)

    @pytest.mark.parametrize("change", ["cut", "emptied", "overwritten", "another batch"])
    def test_changed_file_is_one_clean_error(self, path: Path, change: str) -> None:
        image = load(path)
        raw = path.read_bytes()
        changed: Callable[[], bytes] = {
            "cut": lambda: raw[:80],
            "emptied": lambda: b"",
            "overwritten": lambda: raw[:70] + b"?" + raw[71:],
            "another batch": lambda: log_bytes(log_batches([RELEASE, *topics(8, 9)])),
        }[change]
        with path.open("r+b") as file:
            file.truncate(0)
            file.write(changed())

        with pytest.raises(KraftopsError, match="log has changed since it was read") as error:
            image.record(image.topics[uuid(1)].address)
        assert type(error.value) is SourceError

    def test_large_logs_are_read_again_by_address(self, tmp_path: Path) -> None:
        """Changes of replicas ask for the state so far, from a file that is read further."""
        records = [new_record("TopicRecord", topicId=uuid(1), name="a")]
        log = log_batches(records)
        plain: dict[str, Any] = {
            "replicas": [1, 2],
            "isr": [1, 2],
            "directories": [uuid(1), uuid(2)],
        }
        for block in range(30):
            first, offset = block * 1000, log[-1].end
            one = [
                new_record("PartitionRecord", 1, partitionId=number, topicId=uuid(1), **plain)
                for number in range(first, first + 1000)
            ]
            move = new_record(
                "PartitionChangeRecord", partitionId=block, topicId=uuid(1), replicas=[2, 3]
            )
            log += log_batches(one, [move], first=offset)
        path = tmp_path / "log"
        path.write_bytes(log_bytes(log))
        assert path.stat().st_size > 2 << 20  # more than is read at once

        image = load(path)

        assert not kinds(image)
        assert image.fold.partition_count(uuid(1)) == 30_000
        for number in range(31):
            state = image.partition(uuid(1), number)
            assert state
            assert state.replicas == ([2, 3] if number < 30 else [1, 2])

    def test_cache_of_batches_is_bounded(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from kraftops.image.state import store

        monkeypatch.setattr(store, "_CACHE_BYTES", 1000)
        log = random_log(Random(3))
        log = [batch._replace(attributes=4) for batch in log]
        path = tmp_path / "log"
        path.write_bytes(log_bytes(log))

        image = load(path)

        assert state_of(image) == model_of(log)
        kept = image.store._all.cache.values()
        assert sum(len(one.data) for one in kept) <= max(1000, *(len(one.data) for one in kept))

    def test_files_are_closed_with_the_image(self, path: Path) -> None:
        image = load(path)
        assert str(path) in open_files()

        del image
        assert str(path) not in open_files()


def open_files() -> set[str]:
    """Return the names of the files that this process has open."""
    found = set()
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            continue
    return found


def test_cut_ends_at_its_offset() -> None:
    assert [len(batch.records) for batch in cut(LOG, 4)] == [3, 1, 1]


def test_batch_at_the_highest_offset_costs_no_more_than_others(tmp_path: Path) -> None:
    last = (1 << 63) - 1
    log = log_batches([new_record("NoOpRecord")], first=last) + log_batches(
        [new_record("NoOpRecord")], first=5
    )
    folder = write_log(tmp_path, {0: [bytes(batch) for batch in log]})

    assert load(folder).log_findings
