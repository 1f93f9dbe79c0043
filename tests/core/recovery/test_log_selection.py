"""The sound log of the highest epoch and offset is chosen among those of one cluster."""

from dataclasses import replace
from pathlib import Path

import pytest

from kraftops.recovery.log_copy import LogCopy
from kraftops.recovery.log_selection import choose_log, common_end, own_directory, read_logs
from kraftops.recovery.node_copies import LogSource
from kraftops.recovery.refusal import RecoveryRefused
from kraftops.server.log_directory import LogDirectory
from kraftops.server.meta_properties import MetaProperties
from kraftops.storage.config.server_config import load_config
from tests.helpers.logs.metadata_logs import no_ops
from tests.helpers.nodes.lost_quorums import MORE, controller, other_node, survivor, write_meta
from tests.helpers.nodes.node_directories import OTHER_ID

LOG = LogCopy("log", "folder", MetaProperties(1, None, None, None), end=5, epoch=2)


def directory(node: Path, monkeypatch: pytest.MonkeyPatch) -> LogDirectory:
    monkeypatch.chdir(node)
    return own_directory(load_config("server.properties"))


def sources(*names: str) -> list[LogSource]:
    return [LogSource(name, name) for name in names]


def test_highest_epoch_comes_before_the_highest_offset() -> None:
    logs = [LOG, replace(LOG, end=9, epoch=1), replace(LOG, end=6)]

    assert choose_log(logs, None) is logs[2]


def test_damaged_log_is_not_chosen() -> None:
    logs = [replace(LOG, end=9, damage="torn"), LOG]

    assert choose_log(logs, None) is LOG


def test_named_log_is_chosen_by_any_path_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = survivor(tmp_path / "node")
    other_node(node / "c2", 2, *MORE)
    logs = read_logs(directory(node, monkeypatch), sources("c2"))

    for name in ("meta", "./meta/", "meta/__cluster_metadata-0", str(node / "meta")):
        assert choose_log(logs, name) is logs[0]
    assert choose_log(logs, "c2") is logs[1]
    with pytest.raises(RecoveryRefused) as refused:
        choose_log(logs, "c3")
    assert refused.value.hint == f"they are: {logs[0].name}, c2"


def test_log_of_a_damaged_end_is_chosen_by_name_only() -> None:
    cut = replace(LOG, name="cut", damage="torn", is_cut=True)
    hole = replace(LOG, name="hole", damage="hole")

    assert choose_log([LOG, cut], "cut") is cut
    for logs, name in (([cut], None), ([LOG, hole], "hole")):
        with pytest.raises(RecoveryRefused) as refused:
            choose_log(logs, name)
        assert refused.value.code == "damaged"
        assert ("--choose" in (refused.value.hint or "")) == (logs[0] is cut)


@pytest.mark.parametrize(
    ("log", "code"),
    [(replace(LOG, damage="torn"), "damaged"), (replace(LOG, end=0), "no-records")],
)
def test_without_a_sound_log_there_is_no_recovery(log: LogCopy, code: str) -> None:
    with pytest.raises(RecoveryRefused) as refused:
        choose_log([log], None)

    assert refused.value.code == code


def test_other_logs_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = survivor(tmp_path / "node", *MORE)
    other_node(node / "c2", 2)

    own, other = read_logs(directory(node, monkeypatch), sources("c2", "meta", "c2"))

    assert (own.name, other.name) == ("meta", "c2")
    assert common_end(other, own, is_named=False) == 5


def test_log_of_another_cluster_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = survivor(tmp_path / "node")
    write_meta(other_node(node / "c2", 2), 2, OTHER_ID)

    with pytest.raises(RecoveryRefused) as refused:
        read_logs(directory(node, monkeypatch), sources("c2"))

    assert refused.value.code == "other-cluster"


def test_logs_of_two_clusters_have_no_common_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = survivor(tmp_path / "node")
    folder = other_node(node / "c2", 2) / "__cluster_metadata-0"
    (folder / "00000000000000000000.log").write_bytes(no_ops(0, 9))
    own, other = read_logs(directory(node, monkeypatch), sources("c2"))

    with pytest.raises(RecoveryRefused) as refused:
        common_end(other, own, is_named=False)

    assert refused.value.code == "other-log"
    assert "--choose" in (refused.value.hint or "")
    assert common_end(other, own, is_named=True) == 0  # two histories of one cluster
    nobodys = replace(other, owner=LOG.owner)
    with pytest.raises(RecoveryRefused):
        common_end(nobodys, own, is_named=True)


@pytest.mark.parametrize(
    ("changes", "stored_id", "code"),
    [
        (
            {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"},
            1,
            "no-controller",
        ),
        ({}, None, "not-formatted"),
        ({}, 9, "other-identity"),
    ],
)
def test_directory_must_be_formatted_for_this_controller(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    changes: dict[str, str],
    stored_id: int | None,
    code: str,
) -> None:
    node = controller(tmp_path / "node", 1, **changes)
    (node / "meta/meta.properties").unlink()
    if stored_id:
        write_meta(node / "meta", stored_id)

    with pytest.raises(RecoveryRefused) as refused:
        directory(node, monkeypatch)

    assert refused.value.code == code
