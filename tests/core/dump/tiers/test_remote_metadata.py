"""Tiered segments of a real broker beside its `__remote_log_metadata`, and its local logs.

The files are of a broker 4.3.1 with `LocalTieredStorage`: orders-0 has remote segments from 8 to
55 and a local log from 40 on; kept-0 from 0 on.
"""

import json
import shutil
from pathlib import Path

import pytest

from kraftops.dump.check import partition
from kraftops.dump.tiers.remote_metadata import RemoteState, read_remote_metadata
from kraftops.memory import Budget
from tests.helpers.tools.console import Done, run_here

REAL = Path(__file__).parents[3] / "data/tiered-4.3.1"
ORDERS = "tier/orders-0-vq1rZ-PmTouT54XRx2xKNw"
KEPT = "tier/kept-0-hSEXhASXQgil-YISdot3ww"
OF_16 = "00000000000000000016-SN_xpPYARLe5sqDSuJ2AXQ"


@pytest.fixture
def broker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the log directory `stopped`, and of the directory `tier`; no server changes it."""
    monkeypatch.setattr(partition, "_LOOKS", 1)
    return Path(shutil.copytree(REAL, tmp_path / "broker"))


def checked(broker: Path, *names: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Return the exit code of a check, and code, severity and file of each finding."""
    done = run_here("--check", "--format", "json", *(names or ("stopped", "tier")), cwd=broker)
    findings = json.loads(done.text)["findings"]
    return done.code, [
        (finding["code"], finding["severity"], Path(finding["file"]).name) for finding in findings
    ]


def one(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def test_metadata_have_the_states_of_segments() -> None:
    """Those of the deleted topic `gone` have no segments any more."""
    found = read_remote_metadata([str(REAL / "stopped")], Budget())

    by_name = {(one.topic, one.partition): one for one in found.partitions.values()}
    orders = by_name["orders", 0]
    assert found.damage == ()
    assert [(one.start, one.end) for one in orders.live] == [
        (start, start + 7) for start in range(8, 56, 8)
    ]
    first = next(one for one in orders.segments.values() if one.start == 0)
    assert first.state == RemoteState.DELETE_FINISHED
    assert by_name["gone", 0].live == []
    assert orders.holding(20) is not None
    assert orders.holding(7) is None


def test_real_tier_has_no_findings(broker: Path) -> None:
    assert checked(broker) == (0, [])
    assert checked(broker, "tier") == (0, [])
    assert checked(broker, "--remote-log-metadata", "stopped", "tier") == (0, [])


def test_missing_log_is_lost_unless_the_local_log_has_its_offsets(broker: Path) -> None:
    (broker / ORDERS / f"{OF_16}.log").unlink()
    local = one(broker / KEPT, "*48-*.log")
    local.unlink()

    assert checked(broker) == (
        2,
        [("remote-missing", "loss", f"{OF_16}.log"), ("remote-missing", "risk", local.name)],
    )


def test_missing_directory_of_a_tier_is_all_missing(broker: Path) -> None:
    shutil.rmtree(broker / KEPT)

    code, found = checked(broker)

    assert (code, len(found)) == (2, 7)
    assert [severity for _, severity, _ in found] == ["loss"] * 5 + ["risk"] * 2


@pytest.mark.parametrize("kind", ["index", "timeindex", "snapshot", "leader_epoch_checkpoint"])
def test_missing_file_beside_a_log_is_found(kind: str, broker: Path) -> None:
    """With metadata and without."""
    (broker / ORDERS / f"{OF_16}.{kind}").unlink()

    for names in ([], ["tier"]):
        assert checked(broker, *names) == (2, [("remote-incomplete", "risk", f"{OF_16}.log")])


def test_files_without_metadata_are_found(broker: Path) -> None:
    """A copy of a segment, and a segment that the metadata have as deleted."""
    stray = broker / ORDERS / f"{16:020}-AAAAAAAAAAAAAAAAAAAAAA.log"
    shutil.copy(broker / ORDERS / f"{OF_16}.log", stray)
    left = broker / ORDERS / f"{0:020}-9TuFlcl9Q0uAayi5bqAY4A.log"
    left.write_bytes(b"")

    code, found = checked(broker)

    assert code == 2
    assert ("remote-unknown", "risk", stray.name) in found
    assert ("remote-left", "risk", left.name) in found
    assert "repeated-offsets" not in {code for code, _, _ in found}  # it is not read


def test_shorter_log_is_found_even_at_a_batch_boundary(broker: Path) -> None:
    log = broker / ORDERS / f"{OF_16}.log"
    log.write_bytes(log.read_bytes()[: 4 * 231])

    code, found = checked(broker)

    assert code == 2
    assert ("remote-differs", "loss", log.name) in found


@pytest.mark.parametrize("names", [("stopped", "tier"), ("stopped/orders-0", "tier")])
def test_gap_before_the_local_log_is_lost(names: tuple[str, ...], broker: Path) -> None:
    """By the metadata where they are given, else by the segments."""
    for start in (40, 48):
        for path in (broker / "stopped/orders-0").glob(f"{start:020}.*"):
            path.unlink()
    for path in (broker / ORDERS).glob("*48-*"):
        path.unlink()

    code, found = checked(broker, *names)

    assert code == 2
    has_metadata = names[0] == "stopped"
    wanted = "remote-missing" if has_metadata else "remote-gap"
    assert (wanted, "loss") in {found[:2] for found in found}


def files_of(done: Done) -> set[str]:
    return {Path(json.loads(line)["file"]).name for line in done.text.splitlines()}


def test_offset_is_read_from_the_segment_that_holds_it(broker: Path) -> None:
    """Though a stray copy of it lies beside; without metadata, both are read."""
    stray = broker / ORDERS / f"{16:020}-AAAAAAAAAAAAAAAAAAAAAA.log"
    shutil.copy(broker / ORDERS / f"{OF_16}.log", stray)
    (broker / ORDERS / f"{99:020}-AAAAAAAAAAAAAAAAAAAAAB.log").write_bytes(b"no log at all")

    asked = ["--offset", "20", "--format", "json", ORDERS]
    joined = run_here(*asked, "--remote-log-metadata", "stopped", cwd=broker)
    plain = run_here(*asked, cwd=broker)

    assert (joined.code, joined.errors, files_of(joined)) == (0, [], {f"{OF_16}.log"})
    assert (plain.code, plain.errors, files_of(plain)) == (0, [], {f"{OF_16}.log", stray.name})


def test_offset_of_a_missing_segment_names_it(broker: Path) -> None:
    (broker / ORDERS / f"{OF_16}.log").unlink()

    asked = ["--remote-log-metadata", "stopped", "--format", "json", ORDERS]
    alone = run_here("--offset", "20", *asked, cwd=broker)
    several = run_here("--offset", "20..25", *asked, cwd=broker)
    nowhere = run_here("--offset", "3", *asked, cwd=broker)

    assert alone.code == 4
    assert f"{ORDERS}/{OF_16}.log, with the offsets 16 to 23" in alone.errors[0]
    assert (several.code, len(several.text.splitlines())) == (1, 2)
    assert nowhere.code == 4
    assert f"those of {ORDERS} hold 8 to 55" in nowhere.errors[0]


def test_remote_log_metadata_that_are_of_no_use_are_refused(broker: Path) -> None:
    missing = run_here("--check", "--remote-log-metadata", "stoped", "tier", cwd=broker)
    useless = run_here("--remote-log-metadata", "stopped", "tier", cwd=broker)

    assert missing.code == 4
    assert "stoped" in missing.errors[0]
    assert useless.code == 1
    assert "--remote-log-metadata needs --check or --offset" in useless.errors[0]


def test_segment_of_the_newest_leader_holds_an_offset(tmp_path: Path) -> None:
    """After an unclean election two segments have an offset."""
    log = tmp_path / "__remote_log_metadata-0" / f"{0:020}.log"
    log.parent.mkdir()
    source = REAL / "stopped/__remote_log_metadata-1" / log.name
    shutil.copy(source, log)
    found = read_remote_metadata([str(log.parent)], Budget())
    [orders] = [one for one in found.partitions.values() if one.topic == "orders"][:1]
    old = orders.live[1]
    orders.segments["B" * 22] = type(old)(
        "B" * 22, old.start, old.end, 1, RemoteState.COPY_FINISHED, ((3, old.start),), 0
    )

    held = orders.holding(old.start)

    assert held is not None
    assert held.segment_id == "B" * 22


def test_damaged_metadata_are_read_as_far_as_they_go(broker: Path) -> None:
    log = broker / "stopped/__remote_log_metadata-1" / f"{0:020}.log"
    data = bytearray(log.read_bytes())
    data[200] ^= 1
    log.write_bytes(data)

    among = checked(broker)
    beside = checked(broker, "--remote-log-metadata", str(log.parent), ORDERS)

    assert among[0] == beside[0] == 2
    assert ("bad-batch", "loss", log.name) in among[1]
    assert ("bad-remote-metadata", "risk", log.name) in beside[1]
