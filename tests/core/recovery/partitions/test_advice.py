"""Of damaged copies of a partition all findings name one source, which is whole."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.library.questions import doctor
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.partitions.disk_comparison import compare_disks
from tests.helpers.logs.log_directories import REAL

BROKERS = (1, 2, 3)


def flip(partition: Path) -> None:
    """Damage a batch in a segment before the last, which no light check of one disk reads."""
    log = partition / f"{9:020}.log"
    content = bytearray(log.read_bytes())
    content[-2] ^= 0xFF
    log.write_bytes(content)


def cut(partition: Path) -> None:
    os.truncate(partition / f"{18:020}.log", 100)


def nothing(partition: Path) -> None:
    pass


FAULTS = {fault.__name__: fault for fault in (flip, cut, nothing)}


def disks_with(folder: Path, *faults: str) -> list[str]:
    """Return disks of a real broker, as those of three with the same copies, with faults."""
    disks = []
    for broker, fault in zip(BROKERS, faults, strict=True):
        disk = shutil.copytree(REAL / "stopped", folder / str(broker))
        shutil.rmtree(disk / "__cluster_metadata-0")
        meta = disk / "meta.properties"
        meta.write_text(
            re.sub("directory.id=.", f"directory.id={broker}", meta.read_text()).replace(
                "node.id=1", f"node.id={broker}"
            )
        )
        FAULTS[fault](disk / "plain-0")
        disks.append(str(disk))
    return disks


def severe(disks: list[str], *, is_deep: bool) -> list[Finding]:
    return [finding for finding in doctor(disks, deep=is_deep).findings if finding.is_severe]


@pytest.mark.parametrize("is_deep", [False, True])
@pytest.mark.parametrize("faults", ["flip cut nothing", "nothing flip cut", "cut nothing flip"])
def test_whole_copy_replaces_a_longer_damaged_one_and_a_short_one(
    tmp_path: Path, faults: str, *, is_deep: bool
) -> None:
    disks = disks_with(tmp_path, *faults.split())
    whole = BROKERS[faults.split().index("nothing")]

    (finding,) = severe(disks, is_deep=is_deep)

    assert finding.code == "damaged-copies"
    assert {"bad-batch", "missing-end"} <= {fact.source for fact in finding.evidence}
    assert re.findall(r"copy plain-0 of broker (\d)", finding.cure) == [str(whole)]
    for command in finding.commands[:2]:
        subprocess.run(["sh", "-c", command], check=True)
    table = compare_disks([LogSource(disk, disk) for disk in disks], is_deep=True)
    copies = [copy for copy in table.all_copies if copy.name == "plain-0"]
    assert [(copy.end, copy.holes) for copy in copies] == [(24, ())] * 3


def test_copies_that_are_damaged_alike_replace_none(tmp_path: Path) -> None:
    (finding,) = severe(disks_with(tmp_path, "flip", "flip", "flip"), is_deep=True)

    assert finding.code == "damaged-copies"
    assert not [command for command in finding.commands if "/new" in command]
