"""Faults that findings tell of, and their cures as the findings and the catalogue describe them.

The commands for files that a finding prints are run first; those of kraftops after the cure of one node, before that
of a quorum.
"""

import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from tests.helpers.findings import check_faults
from tests.helpers.kafka.cases.damaged_directories import (
    BOOTSTRAP,
    LOG,
    META,
    OTHER_ID,
    QUORUM_STATE,
    VOTERS_SNAPSHOT,
    Change,
    all_of,
    at,
    bootstrapped,
    configured,
    copied,
    cut,
    flipped,
    made,
    matching,
    removed,
    voting,
    with_properties,
    write,
    written,
)
from tests.helpers.kafka.cases.verify import (
    GARBAGE,
    STARTS,
    Case,
    format_again,
    in_partition,
    moved,
    verified,
    voter_with_its_directory,
    with_bootstrap_server,
)
from tests.helpers.kafka.cases.verify_quorums import (
    BEGINNING,
    QuorumChange,
    cut_after,
    formatted_again,
    no_voters,
    of,
    own_quorum,
    wiped,
)
from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, CONTROLLER, Config
from tests.helpers.nodes.node_directories import locked
from tests.helpers.tools.console import STORAGE, run_here

SERVERS = "controller.quorum.bootstrap.servers"
_HELD: dict[Path, ExitStack] = {}
"""What runs beside a node, by its configuration."""


class QuorumCure(NamedTuple):
    """A fault of three controllers, and what is done after the printed commands.

    Of a new cluster no batch is expected to be kept. Only the nodes *started* are started.
    """

    change: QuorumChange
    cure: QuorumChange = lambda _: None
    started: Sequence[int] = (1, 2, 3)
    is_new: bool = False


def with_copy(*changes: Change) -> Change:
    """Copy a node's folder and configuration before changes."""

    def change(config: Config) -> Config:
        aside = _aside(config)
        shutil.copytree(config.log_dirs[0].parent, aside)
        shutil.copy(config.path, aside)
        return all_of(*changes)(config) or config

    return change


def restored(pattern: str) -> Change:
    """Put back what the copy of the node has."""

    def change(config: Config) -> None:
        aside = _aside(config)
        for path in aside.glob(pattern):
            target = at(config, str(path.relative_to(aside)))
            if target.is_dir():
                shutil.rmtree(target)
            target.unlink(missing_ok=True)
            shutil.copytree(path, target) if path.is_dir() else shutil.copy(path, target)

    return change


def as_configured(config: Config) -> Config:
    """Configure the node as before."""
    lines = (_aside(config) / config.path.name).read_text().splitlines()
    settings = dict(line.split("=", 1) for line in lines)
    return replace(config, settings={}).changed(settings)


def _aside(config: Config) -> Path:
    return config.path.with_suffix(".kept")


def leave(_: Config) -> None:
    """Do nothing more: a start mends it, or it hinders nothing."""


def cure_text(config: Config, code: str) -> str:
    """Return the cure of the first finding of a code."""
    return next(finding.cure for finding in verified(config) if finding.code == code)


def class_as_told(code: str, key: str) -> Change:
    """Name the class that the cure names."""

    def change(config: Config) -> Config:
        named = re.search(r"=(\S+)", cure_text(config, code))
        assert named
        return configured({key: named[1]})(config) or config

    return change


def holding_the_lock(config: Config) -> None:
    """Have another process hold the lock of a directory."""
    _HELD[config.path] = ExitStack()
    _HELD[config.path].enter_context(locked(at(config, "d1")))


def listening(config: Config) -> None:
    """Have this process listen on the port of the broker."""
    _HELD[config.path] = ExitStack()
    server = socket.create_server(("127.0.0.1", config.ports[BROKER]))
    _HELD[config.path].enter_context(server)


def stop_it(config: Config) -> None:
    """End what runs beside a node."""
    _HELD.pop(config.path).close()


def immutable(is_set: bool) -> Change:
    """Have the file system refuse changes of a directory, or take them again."""

    def change(config: Config) -> None:
        flag = "+i" if is_set else "-i"
        subprocess.run(["chattr", flag, at(config, "d2")], check=True, capture_output=True)

    return change


def without_bootstrap_server(config: Config) -> Config:
    """Take out the last bootstrap server."""
    return config.changed({SERVERS: config.settings[SERVERS].rpartition(",")[0]})


def large_unflushed(config: Config) -> None:
    """Have a crash leave a segment of 300 MiB, most of it preallocated."""
    with at(config, f"d1/plain-0/{18:020}.log").open("ab") as log:
        log.truncate(300 << 20)


def _linked(config: Config) -> None:
    at(config, "d2/.lock").unlink(missing_ok=True)
    at(config, "d2/.lock").symlink_to(".lock")


def _partition_aside(config: Config) -> None:
    path = matching(config, "d1/kept-*")[0]
    shutil.rmtree(path)


def _file_for_partition(config: Config) -> None:
    path = matching(config, "d1/kept-*")[0]
    shutil.rmtree(path)
    path.write_bytes(b"")


def _with_its_node_id(config: Config) -> Config:
    quorum = f"1@localhost:{config.ports[CONTROLLER]}"
    return configured({"node.id": "1", "controller.quorum.voters": quorum})(config) or config


def _on_disk(shape: str, code: str, cure: Change) -> Case:
    """Return the case of a fault in the log directory of the real broker."""
    fault = check_faults.FAULTS[code]
    assert isinstance(fault, check_faults.Faulty)
    return Case(
        shape, STARTS, change=with_copy(lambda config: fault.make(config.log_dirs[0])), cure=cure
    )


def mended(code: str) -> Case:
    """Return the case of a fault that a start mends."""
    fault = check_faults.FAULTS[code]
    assert isinstance(fault, check_faults.Faulty)
    return _on_disk(fault.name, code, leave)


def cured(code: str, *patterns: str) -> Case:
    """Return the case of a fault, after a clean stop, whose cure removes files.

    Without *patterns* the printed commands do.
    """
    return _on_disk("stopped", code, all_of(*map(removed, patterns)))


def _case(shape: str, change: Change, cure: Change = leave) -> Case:
    return Case(shape, STARTS, change=with_copy(change), cure=cure)


def _with_known_ids(config: Config) -> None:
    """Write the ids, of which the cure has the cluster's only if another node tells it."""
    ids = ("--cluster-id", CLUSTER_ID, "--to-v1", "--node-id", str(config.node_id))
    done = run_here("rewrite", "-c", str(config.path), *ids, program=STORAGE)
    assert done.code == 0, done.err


_EPOCHS = "leader-epoch-checkpoint"
_BAD_EPOCHS = in_partition(_EPOCHS, GARBAGE[1:])
_AUTHORIZER = "authorizer.class.name"
_SUPER_USERS = {"super.users": "User:ANONYMOUS"}

CURES: Mapping[str, Case] = {
    # What a start makes of partitions
    "server-stops": _case("used", _BAD_EPOCHS, removed(f"d1/kept-*/{_EPOCHS}")),
    "directory-goes-offline": _case(
        "used",
        lambda config: write(matching(config, "d2/kept-*")[0] / _EPOCHS, b"words\n"),
        removed(f"d2/kept-*/{_EPOCHS}"),
    ),
    "torn-tail": cured("torn-tail"),
    "zero-tail": cured("zero-tail"),
    "unfinished-swap": mended("unfinished-swap"),
    # Indexes
    "index-differs": cured("index-differs"),
    "index-missing": mended("index-missing"),
    "index-order": cured("index-order"),
    "index-torn": cured("index-torn"),
    "index-zeros": cured("index-zeros"),
    "time-index-differs": cured("time-index-differs"),
    "time-index-missing": cured("time-index-missing"),
    "time-index-order": cured("time-index-order"),
    "time-index-short": cured("time-index-short"),
    "time-index-torn": cured("time-index-torn"),
    "time-index-zeros": cured("time-index-zeros"),
    # Files beside the segments
    "bad-epochs": cured("bad-epochs"),
    "bad-producers": mended("bad-producers"),
    "no-producers": cured("no-producers"),
    "producers-differ": cured("producers-differ"),
    "bad-topic-id": _on_disk("stopped", "bad-topic-id", restored("d1/plain-0/partition.metadata")),
    "no-topic-id": _case("used", removed("d1/kept-*/partition.metadata")),
    "topic-id-differs": _on_disk(
        "stopped", "topic-id-differs", restored("d1/plain-0/partition.metadata")
    ),
    "bad-snapshot": cured("bad-snapshot", f"{LOG}/*.checkpoint"),
    # Log directories
    "bad-checkpoint": _case(
        "used",
        written("d2/replication-offset-checkpoint", b"0\n7\n"),
    ),
    "checkpoint-differs": mended("checkpoint-differs"),
    "no-checkpoint": mended("no-checkpoint"),
    "missing-partition": _case("used", _partition_aside, restored("d1/kept-*")),
    "partition-twice": _case("used", copied("d1/kept-*", "d2/{name}")),
    "unknown-directory": _case("two", made("d2/lost+found")),
    "file-for-partition": _case("used", _file_for_partition, restored("d1/kept-*")),
    "unreadable": _case("two", _linked, lambda config: at(config, "d2/.lock").unlink()),
    "not-writable": _case("two", immutable(is_set=True), immutable(is_set=False)),
    "running": _case("two", holding_the_lock, stop_it),
    "directory-twice": _case(
        "static",
        configured({"log.dirs": "{folder}/d1,{folder}/d1/."}),
        configured({"log.dirs": "{folder}/d1"}),
    ),
    "not-a-directory": Case(
        "two", STARTS, change=all_of(removed("d2"), written("d2", b"")), cure=removed("d2")
    ),
    "not-formatted": _case("two", removed("d2")),
    "bad-meta": _case("two", with_properties({"version": "2"})),
    "incomplete-meta": _case("static", written(f"d1/{META}", b"version=0\n"), _with_known_ids),
    "other-cluster": _case("two", with_properties({"cluster.id": OTHER_ID}, f"d2/{META}")),
    "other-node-id": _case("two", with_properties({"node.id": "2"}, f"d2/{META}")),
    "reserved-directory-id": _case(
        "static",
        with_properties({"directory.id": "AAAAAAAAAAAAAAAAAAAAAg"}),
    ),
    "directory-id-twice": _case(
        "two",
        copied(f"d1/{META}", f"d2/{META}"),
        with_properties({"directory.id": None}, f"d2/{META}"),
    ),
    "stray-metadata-log": _case(
        "two", made("d2/__cluster_metadata-0"), removed("d2/__cluster_metadata-0")
    ),
    "bad-bootstrap": _case(
        "broker", written(f"d1/{BOOTSTRAP}", GARBAGE), removed(f"d1/{BOOTSTRAP}")
    ),
    "no-bootstrap": _case("controller", removed(f"d1/{BOOTSTRAP}"), format_again),
    # Configuration and names
    "bad-configuration": _case("two", configured({"num.partitions": "many"}), as_configured),
    "ignored-key": _case("static", configured({"zookeeper.connect": "a:2181"}), as_configured),
    "misspelt-key": _case("static", configured({"num.io.thread": "2"}), as_configured),
    "unresolved-listener": _case(
        "controller",
        configured({"listeners": "CONTROLLER://nowhere.invalid:{port}"}),
        as_configured,
    ),
    "unresolved-voter": _case(
        "static",
        configured(
            {"controller.quorum.voters": "1@localhost:{port},2@nowhere.invalid:9,3@there.invalid:9"}
        ),
        as_configured,
    ),
    "unresolved-bootstrap-server": _case(
        "broker", with_bootstrap_server("nowhere.invalid:9"), without_bootstrap_server
    ),
    # The metadata log and the quorum
    "damage": _case(
        "grown",
        all_of(removed(f"{LOG}/*-0000000001.checkpoint"), flipped(f"{LOG}/*.log")),
        restored("d1"),
    ),
    "harmless-damage": _case("controller", cut(VOTERS_SNAPSHOT, 20)),
    "bad-quorum-state": _case("used", written(QUORUM_STATE, GARBAGE)),
    "metadata-lost": _case("used", removed(LOG), restored("d1")),
    "metadata-log-lost": _case("used", removed(f"{LOG}/*.log"), restored("d1")),
    "newer-feature": _case("controller", bootstrapped({}, 99), format_again),
    "no-voters": _case("controller", removed(VOTERS_SNAPSHOT), format_again),
    "not-a-voter": _case(
        "joining",
        all_of(made(LOG), voting((7, OTHER_ID)), configured({SERVERS: "localhost:{port}"})),
        as_configured,
    ),
    "other-directory-id": _case(
        "standalone", with_properties({"directory.id": None}), voter_with_its_directory
    ),
    "static-voters-ignored": _case(
        "controller", configured({"controller.quorum.voters": "1@localhost:{port}"}), as_configured
    ),
    "registered-elsewhere": _case(
        "used",
        all_of(
            with_properties({"node.id": "5"}, f"d1/{META}"),
            with_properties({"node.id": "5"}, f"d2/{META}"),
            configured({"node.id": "5", "controller.quorum.voters": "5@localhost:{port}"}),
        ),
        _with_its_node_id,
    ),
    # Partitions beside the metadata
    "other-directory": _case("used", moved("d1/kept-*", "d2/kept-{number}")),
    "other-name": _case(
        "used", moved("d1/kept-*", "d1/other-{number}"), moved("d1/other-*", "d1/kept-{number}")
    ),
    "unknown-topic": _case(
        "used",
        all_of(
            copied("d1/kept-*", "d2/gone-3"),
            written("d2/gone-3/partition.metadata", f"version: 0\ntopic_id: {OTHER_ID}\n".encode()),
        ),
        removed("d2/gone-3"),
    ),
    "unknown-partition": _case("used", copied("d1/kept-*", "d2/kept-7"), removed("d2/kept-7")),
    # Releases, classes and this host
    "missing-class": _case(
        "combined",
        configured({_AUTHORIZER: "kafka.security.authorizer.AclAuthorizer", **_SUPER_USERS}),
        class_as_told("missing-class", _AUTHORIZER),
    ),
    "wrong-class": _case(
        "combined",
        configured({_AUTHORIZER: "org.apache.kafka.common.metrics.JmxReporter", **_SUPER_USERS}),
        class_as_told("wrong-class", _AUTHORIZER),
    ),
    "no-remote-manager": _case(
        "combined", configured({"remote.log.storage.system.enable": "true"}), as_configured
    ),
    "foreign-address": _case(
        "controller", configured({"listeners": "CONTROLLER://192.0.2.1:{port}"}), as_configured
    ),
    "port-in-use": _case("combined", listening, stop_it),
    "not-foretold": _case("running", large_unflushed),
}
"""Cures of one node, by code."""


def _for_all(change: Callable[[Config], Config | None]) -> QuorumChange:
    return of(1, 2, 3, change=change)


QUORUM_CURES: Mapping[str, QuorumCure] = {
    "shared-directory": QuorumCure(
        of(3, change=with_copy(configured({"log.dirs": "{folder}/../node-1/d1"}))),
        of(3, change=as_configured),
    ),
    "behind": QuorumCure(of(3, change=cut_after(BEGINNING))),
    "ends-differ": QuorumCure(of(2, 3, change=cut_after(-1)), started=(1, 2)),
    "rival-history": QuorumCure(formatted_again(2, 3), started=(1,)),
    "quorum-lost": QuorumCure(of(2, 3, change=wiped), started=(1,)),
    "all-wait": QuorumCure(_for_all(no_voters), of(1, change=own_quorum), is_new=True),
    "not-a-controller": QuorumCure(
        of(
            3,
            change=with_copy(
                configured({"process.roles": "broker", "listeners": "PLAINTEXT://localhost:{port}"})
            ),
        ),
        of(3, change=as_configured),
    ),
    "voters-differ": QuorumCure(of(3, change=own_quorum), of(3, change=no_voters)),
    "static-voters-differ": QuorumCure(
        of(
            3,
            change=with_copy(
                configured({"controller.quorum.voters": "1@a:1,2@b:2,3@localhost:{port}"})
            ),
        ),
        of(3, change=as_configured),
    ),
    "node-id-twice": QuorumCure(
        of(
            3,
            change=with_copy(
                all_of(with_properties({"node.id": "1"}), configured({"node.id": "1"}))
            ),
        ),
        of(3, change=all_of(as_configured, with_properties({"node.id": "3"}))),
    ),
}
"""Cures of three controllers, by code."""

DECISIONS: Mapping[str, str] = {
    "bad-record": "whether the record is damage or of a newer writer is seen by looking at it",
    "no-segments": "whether the segments were left out of a copy, or the disk has lost them",
    "bad-archive": "the archive is copied again; no server reads it",
    "txn-index-short": "which replica is right; then as [txn-index-differs]",
    "rival-quorums": "which of the two quorums goes on: the records of the other are given up",
    "two-histories": "which history is wanted: the committed records of the other are given up",
    "older-disks": "whether the newer disks are anywhere, or which copies go on without them",
    "other-broker": "whether the records are wanted: they are moved to a replica, or copied",
    "foreign-class": "whether the jar is there is known only with its installation",
    "bad-remote-metadata": "another replica or a copy has to have the records",
    "remote-differs": "a copy of the object store has to have the segment",
    "remote-gap": "a copy or another replica has to have the segment",
    "remote-incomplete": "a copy of the object store has to have the file",
    "remote-left": "whether the files are old enough to be deleted",
    "remote-missing": "a copy of the object store has to have the segment",
    "remote-unknown": "whether the remote log metadata is complete",
}
"""Codes whose cure a person must decide, or needs what no command has, by what is decided."""
