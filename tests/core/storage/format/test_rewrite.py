"""A rewrite changes the ids of all directories or of none, and keeps everything else."""

import os
import stat
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.errors import KraftopsError
from kraftops.java.properties import properties
from kraftops.storage.config.server_config import load_config
from kraftops.storage.format.rewrite import (
    BACKUP_SUFFIX,
    RewriteRequest,
    conflicts,
    plan_rewrite,
    rewrite,
)
from tests.helpers.nodes.child_processes import FULL, KILL, Child, failing
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    format_node,
    make_node,
    storage,
    temporary_files,
)
from tests.helpers.tools.distribution import long_but

BACKUP = META + BACKUP_SUFFIX
V0 = "version=0\nbroker.id=1\ncluster.id=MkU3OEVBNTcwNTJENDM2Qg\n"


@pytest.fixture(autouse=True)
def idle_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spare the disk hundreds of waits; here nobody cuts the power."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with two formatted directories."""
    made = make_node(tmp_path / "node")
    assert format_node(made).code == 0
    return made


def given(node: Path, directory: str = "d1") -> dict[str, str]:
    """Return what a meta.properties says, by Java's rules."""
    found = properties((node / directory / META).read_bytes())
    return {key: one.value for key, one in found.items()}


def rewritten(node: Path, **request: str | int | bool) -> dict[str, dict[str, tuple[str, str]]]:
    """Rewrite the directories of a node; return what changed."""
    with chdir(node):
        planned = plan_rewrite(load_config(PROPERTIES), RewriteRequest(**request))  # type: ignore[arg-type]
        rewrite(planned)
    return {one.directory.path: one.changes for one in planned}  # type: ignore[misc]


def contents(node: Path) -> list[bytes]:
    return [(node / name / META).read_bytes() for name in ("d1", "d2")]


# What it changes


def test_cluster_id_changes_in_all_directories(node: Path) -> None:
    changes = rewritten(node, cluster_id=OTHER_ID)

    expected = {"cluster.id": (CLUSTER_ID, OTHER_ID)}
    assert changes == {"d1": expected, "d2": expected}
    assert [given(node, name)["cluster.id"] for name in ("d1", "d2")] == [OTHER_ID, OTHER_ID]


def test_node_id_changes_and_the_rest_stays(node: Path) -> None:
    before = given(node)

    rewritten(node, node_id=7)

    assert given(node) == {**before, "node.id": "7"}


def test_version_0_becomes_1(node: Path) -> None:
    (node / "d1" / META).write_text(V0)

    changes = rewritten(node, to_v1=True)

    directory_id = given(node)["directory.id"]
    assert given(node) == {
        "version": "1",
        "node.id": "1",
        "cluster.id": CLUSTER_ID,
        "directory.id": directory_id,
    }
    assert len(directory_id) == 22
    assert changes == {
        "d1": {
            "version": ("0", "1"),
            "broker.id": ("1", None),
            "node.id": (None, "1"),
            "directory.id": (None, directory_id),
        },
        "d2": {},
    }


def test_version_0_keeps_its_directory_id(node: Path) -> None:
    (node / "d1" / META).write_text(f"{V0}directory.id={OTHER_ID}\n")

    rewritten(node, to_v1=True)

    assert given(node)["directory.id"] == OTHER_ID


def test_version_0_without_ids_gets_the_ids_of_the_request(node: Path) -> None:
    (node / "d1" / META).write_text("# of an old broker\n")

    rewritten(node, to_v1=True, cluster_id=OTHER_ID, node_id=3)

    assert {**given(node), "directory.id": ""} == {
        "version": "1",
        "node.id": "3",
        "cluster.id": OTHER_ID,
        "directory.id": "",
    }


def test_version_0_stays_unless_version_1_is_requested(node: Path) -> None:
    (node / "d1" / META).write_text("broker.id=1\n")

    rewritten(node, cluster_id=OTHER_ID, node_id=2)

    assert given(node) == {"broker.id": "2", "cluster.id": OTHER_ID}


def test_unknown_keys_and_other_alphabets_are_kept(node: Path) -> None:
    path = node / "d1" / META
    path.write_bytes(
        path.read_bytes() + "ort=Köln\nplace=\\u6771\\u4eac\nodd\\ key=\\ a\\tb\n".encode()
    )
    before = given(node)

    rewritten(node, node_id=2)

    assert given(node) == {**before, "node.id": "2"}
    assert given(node)["place"] == "東京"
    assert given(node)["ort"] == "KÃ¶ln"  # which is what Java reads


def test_old_file_stays_beside_the_new_one(node: Path) -> None:
    old = contents(node)

    rewritten(node, cluster_id=OTHER_ID)

    assert [(node / name / BACKUP).read_bytes() for name in ("d1", "d2")] == old
    assert temporary_files(node) == []


def test_backup_is_of_the_last_rewrite_that_changed_something(node: Path) -> None:
    rewritten(node, cluster_id=OTHER_ID)
    second = contents(node)

    rewritten(node, node_id=5)
    rewritten(node, node_id=5)

    assert [(node / name / BACKUP).read_bytes() for name in ("d1", "d2")] == second


def test_mode_and_owner_are_kept(node: Path) -> None:
    path = node / "d1" / META
    path.chmod(0o640)
    owner = (12345, 54321) if os.geteuid() == 0 else (os.geteuid(), os.getegid())
    os.chown(path, *owner)

    rewritten(node, cluster_id=OTHER_ID)

    for name in (META, BACKUP):
        status = (node / "d1" / name).stat()
        assert stat.S_IMODE(status.st_mode) == 0o640
        assert (status.st_uid, status.st_gid) == owner


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_lock_that_is_made_belongs_to_the_owner_of_the_directory(node: Path) -> None:
    """A server could not open one that is root's."""
    (node / "d1/.lock").unlink()
    os.chown(node / "d1", 12345, 54321)

    rewritten(node, cluster_id=OTHER_ID)

    assert (node / "d1/.lock").stat().st_uid == 12345


def test_nothing_is_written_where_nothing_changes(node: Path) -> None:
    before = contents(node)

    assert rewritten(node, cluster_id=CLUSTER_ID, node_id=1, to_v1=True) == {"d1": {}, "d2": {}}

    assert contents(node) == before
    assert not (node / "d1" / BACKUP).exists()


# What it refuses


def refused(node: Path, **request: str | int | bool) -> str:
    """Return why a rewrite is refused; it has changed nothing."""
    before = [(path, path.read_bytes()) for path in node.rglob("*") if path.is_file()]
    with pytest.raises(KraftopsError) as caught:
        rewritten(node, **request)
    assert [(path, path.read_bytes()) for path in node.rglob("*") if path.is_file()] == before
    return caught.value.message


def test_nothing_to_do_is_refused(node: Path) -> None:
    assert refused(node) == "nothing to rewrite"


def test_unreadable_file_is_refused(node: Path) -> None:
    (node / "d2" / META).write_text("version=2\n")

    assert refused(node, node_id=2) == (
        "cannot read d2/meta.properties: Unknown meta.properties version number 2"
    )


def test_unformatted_directories_are_refused(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")

    assert refused(node, node_id=2) == "none of the log directories is formatted"


def test_missing_directory_is_passed_over(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", log_dirs="d1")
    format_node(node)
    make_node(node)

    assert rewritten(node, node_id=2) == {"d1": {"node.id": ("1", "2")}}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("cluster.id=x\n", "d1/meta.properties does not say its node.id"),
        ("broker.id=1\n", "d1/meta.properties does not say its cluster.id"),
        (
            "node.id=one\ncluster.id=x\n",
            "d1/meta.properties would not be whole: Unable to read node.id as a base-10 number.",
        ),
    ],
)
def test_version_1_that_would_not_be_whole_is_refused(
    node: Path, content: str, message: str
) -> None:
    (node / "d1" / META).write_text(content)

    assert refused(node, to_v1=True) == message


def test_directory_with_two_names_is_refused(node: Path) -> None:
    make_node(node, log_dirs="d1,d2/../d1")

    assert refused(node, node_id=2) == "d1 and d2/../d1 are one directory"


def test_file_that_changed_meanwhile_is_refused(node: Path) -> None:
    with chdir(node):
        planned = plan_rewrite(load_config(PROPERTIES), RewriteRequest(node_id=2))
        (node / "d2" / META).write_text(V0)

        with pytest.raises(KraftopsError, match=r"d2/meta\.properties has changed meanwhile"):
            rewrite(planned)

    assert given(node)["node.id"] == "1"


# What it warns of


def warned(node: Path, **request: str | int | bool) -> list[str]:
    with chdir(node):
        config = load_config(PROPERTIES)
        planned = plan_rewrite(config, RewriteRequest(**request))  # type: ignore[arg-type]
        return [conflict.message for conflict in conflicts(config, planned)]


def test_node_id_that_is_not_that_of_the_configuration_is_named(node: Path) -> None:
    assert warned(node, node_id=2) == [
        "the configuration is of node 1, d1 of node 2",
        "the configuration is of node 1, d2 of node 2",
    ]
    assert warned(node, cluster_id=OTHER_ID) == []


def test_voters_that_name_the_old_node_id_are_named(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node", DYNAMIC)
    format_node(node, "--standalone")

    assert "the voters in d1 name node 1" in warned(node, node_id=2)
    assert warned(node, cluster_id=OTHER_ID) == []


# Whatever ends it


ARGS = ["rewrite", "-c", PROPERTIES, "--cluster-id", OTHER_ID, "--node-id", "1"]


def ids(node: Path) -> list[str]:
    return [given(node, name)["cluster.id"] for name in ("d1", "d2")]


def check_completion(child: Child) -> None:
    """Check that another run ends what this one has begun."""
    done = storage(child.node, *ARGS)

    assert (done.code, done.err) == (0, ""), child.call
    assert ids(child.node) == [OTHER_ID, OTHER_ID], child.call
    assert temporary_files(child.node) == [], child.call


@pytest.mark.slow
@pytest.mark.parametrize("fault", long_but({FULL}, ["EACCES", "EIO", "ENOSPC", FULL]))
def test_error_at_any_call_changes_every_directory_or_none(
    node: Path, tmp_path: Path, fault: str
) -> None:
    before = contents(node)

    *failed, last = failing(node, tmp_path / "children", ARGS, fault)

    for child in failed:
        if child.code == 0:
            assert ids(child.node) == [OTHER_ID, OTHER_ID], child.call
        else:
            # 3: a lock that cannot be taken is one that another process holds.
            assert child.code in (1, 3), (child.call, child.err)
            assert len(child.errors) == 1, (child.call, child.err)
            assert contents(child.node) == before, child.call
            assert temporary_files(child.node) == [], child.call
        check_completion(child)
    assert (last.code, last.err) == (0, "")
    assert sum(child.code for child in failed) > 20


@pytest.mark.slow
def test_kill_at_any_call_leaves_each_file_whole(node: Path, tmp_path: Path) -> None:
    before = contents(node)

    *killed, last = failing(node, tmp_path / "children", ARGS, KILL)

    found = []
    for child in killed:
        for name, old in zip(("d1", "d2"), before, strict=True):
            is_old = (child.node / name / META).read_bytes() == old
            assert is_old or given(child.node, name)["cluster.id"] == OTHER_ID, child.call
            assert is_old or (child.node / name / BACKUP).read_bytes() == old, child.call
        found.append(tuple(ids(child.node)))
        check_completion(child)
    assert (last.code, last.err) == (0, "")
    assert [*dict.fromkeys(found)] == [
        (CLUSTER_ID, CLUSTER_ID),
        (OTHER_ID, CLUSTER_ID),
        (OTHER_ID, OTHER_ID),
    ]


def test_interrupt_between_two_directories_changes_none(
    node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = contents(node)
    replace = os.replace

    def interrupted(source: str, target: str) -> None:
        if target == "d2/meta.properties" and source.endswith(".tmp"):
            raise KeyboardInterrupt
        replace(source, target)

    monkeypatch.setattr(os, "replace", interrupted)

    with pytest.raises(KeyboardInterrupt):
        rewritten(node, cluster_id=OTHER_ID)

    assert contents(node) == before
    assert temporary_files(node) == []
