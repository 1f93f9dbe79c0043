"""Nodes, sound and damaged, and the outcome of their start."""

import re
import shlex
import subprocess
from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import NamedTuple

from kraftops.findings.finding import Finding
from kraftops.image.verify.nodes import verify_nodes
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from tests.helpers.kafka.cases.damaged_directories import (
    BOOTSTRAP,
    FIRST_SEGMENT,
    LOG,
    META,
    OTHER_ID,
    QUORUM_STATE,
    VOTERS_SNAPSHOT,
    Change,
    all_of,
    appended,
    at,
    bootstrapped,
    configured,
    copied,
    cut,
    feature_record,
    flipped,
    format_node,
    made,
    matching,
    removed,
    replaced,
    voting,
    with_properties,
    with_record,
    write,
    written,
)
from tests.helpers.kafka.nodes.configs import CLUSTER_ID, Config
from tests.helpers.tools.console import STORAGE, Done, run_command

GARBAGE = b"\xff garbage " * 30


class Outcome(Enum):
    """The outcome of a start."""

    STARTS = "it is ready, with all that it had"
    LOSES = "it is ready, without a directory, topics or records"
    WAITS = "it waits for ever"
    ENDS = "it ends"


class Case(NamedTuple):
    """A node, what is done to it, what becomes of its start, and what verify says of it.

    The *cure* is what its text means; a command in the text is run. One that *is_risky* starts, and
    should not: what follows is not of this node alone.
    """

    shape: str
    outcome: Outcome
    says: str = ""
    change: Change | None = None
    cure: Change | None = None
    is_risky: bool = False

    @property
    def is_alone(self) -> bool:
        """Whether nobody else is in its cluster, or can be reached."""
        return self.shape not in ("broker", "joining")


STARTS, LOSES, WAITS, ENDS = Outcome


def storage(*args: str) -> Done:
    return run_command(*args, program=STORAGE)


def verified(*configs: Config) -> list[Finding]:
    """Return what verify finds, names included."""
    nodes = [read_node(load_config(str(config.path))) for config in configs]
    return verify_nodes(nodes, resolves=True).findings


def run_hints(config: Config) -> None:
    """Run the commands in the hints of the findings."""
    for finding in verified(config):
        for command in finding.commands if finding.is_severe else ():
            program, *args = shlex.split(command)
            if program == "kafka-storage":
                done = storage(*args)
                assert done.code == 0, done.err
            else:
                subprocess.run(["sh", "-c", command], check=True, capture_output=True)


def rewrite_with_cluster_id(config: Config) -> None:
    """Run the command that the hint of the finding names, with the id of the cluster."""
    text = " ".join(finding.cure for finding in verified(config))
    options = re.search("kafka-storage (rewrite .*--cluster-id) from", text)
    assert options, text
    done = storage(*options[1].split(), CLUSTER_ID, "-c", str(config.path))
    assert done.code == 0, done.err


def voter_with_its_directory(config: Config) -> None:
    """Set the directory id that the hint of the finding names."""
    text = " ".join(finding.cure for finding in verified(config))
    found = re.search(r"set directory.id=(\S+) in meta.properties", text)
    assert found
    with_properties({"directory.id": found[1]})(config)


def format_again(config: Config) -> None:
    """Format the metadata directory of the only controller again."""
    removed(f"d1/{META}")(config)
    removed(LOG)(config)
    format_node(config, standalone=True)


def in_partition(name: str, data: bytes) -> Change:
    """Write a file into the directory of a partition."""
    return lambda config: write(matching(config, "d1/kept-*")[0] / name, data)


def in_last_segment(change: Callable[[str], Change]) -> Change:
    """Change the active segment, or the one before if that was only just rolled."""

    def change_last(config: Config) -> Config | None:
        logs = [path for path in matching(config, f"{LOG}/*.log") if path.stat().st_size]
        return change(f"{LOG}/{logs[-1].name}")(config)

    return change_last


def without_copy(config: Config) -> None:
    """Remove the second copy of a partition."""
    removed(f"d2/{matching(config, 'd1/kept-*')[0].name}")(config)


def with_file_for_partition(config: Config) -> None:
    """Put a file in the place of a partition's directory."""
    path = matching(config, "d1/kept-*")[0]
    removed(f"d1/{path.name}")(config)
    write(path, b"")


def with_newer_snapshot(config: Config) -> None:
    """Rename the latest snapshot, so that it ends after the log."""
    snapshot = matching(config, f"{LOG}/*.checkpoint")[-1]
    snapshot.rename(snapshot.with_name(f"{9999:020}-{9:010}.checkpoint"))


def moved(source: str, target: str) -> Change:
    """Rename a file or directory; *source* is a pattern, the last part of its name is in {}."""

    def change(config: Config) -> None:
        path = matching(config, source)[0]
        number = path.name.rpartition("-")[2]
        path.rename(at(config, target.format(number=number)))

    return change


def with_bootstrap_server(address: str) -> Change:
    """Add a bootstrap server."""
    key = "controller.quorum.bootstrap.servers"
    return lambda config: config.changed({key: f"{config.settings[key]},{address}"})


CASES = {
    # Sound
    "standalone": Case("standalone", STARTS),
    "static voters": Case("combined", STARTS),
    "controller with static voters": Case("static", STARTS),
    "two directories": Case("two", STARTS),
    "controller": Case("controller", STARTS),
    "broker": Case("broker", STARTS, "its metadata log is empty"),
    "controller that joins": Case("joining", STARTS),
    "metadata apart": Case("apart", STARTS),
    "node that has run": Case("used", STARTS),
    "controller with snapshots": Case("grown", STARTS),
    # meta.properties
    "directory missing": Case("two", ENDS, "d2: it does not exist", removed("d2"), run_hints),
    "directory not formatted": Case("two", ENDS, "d2: it is not formatted", removed(f"d2/{META}")),
    "directory is a file": Case(
        "two",
        LOSES,
        "d2: it is not a directory",
        all_of(removed("d2"), written("d2", b"")),
        all_of(removed("d2"), run_hints),
    ),
    "other cluster in one directory": Case(
        "two",
        ENDS,
        f"d2: its cluster id is {OTHER_ID}, not {CLUSTER_ID}",
        with_properties({"cluster.id": OTHER_ID}, f"d2/{META}"),
        run_hints,
    ),
    "other node": Case(
        "two",
        ENDS,
        "d2: it is of node 2, the configuration of node 1",
        with_properties({"node.id": "2"}, f"d2/{META}"),
        run_hints,
    ),
    "reserved directory id": Case(
        "static",
        ENDS,
        "its directory id AAAAAAAAAAAAAAAAAAAAAg is a reserved one",
        with_properties({"directory.id": "AAAAAAAAAAAAAAAAAAAAAg"}),
        with_properties({"directory.id": None}),
    ),
    "one directory id twice": Case(
        "two",
        ENDS,
        "d2: its directory id .* is also the id of .*d1",
        copied(f"d1/{META}", f"d2/{META}"),
    ),
    "one directory twice": Case(
        "static",
        ENDS,
        "d1/.: it is .*d1 under another name",
        configured({"log.dirs": "{folder}/d1,{folder}/d1/."}),
    ),
    "no directory id": Case("static", STARTS, "", with_properties({"directory.id": None})),
    "no directory id of a voter": Case(
        "standalone",
        WAITS,
        "d1: its directory id is none, the voters have node 1 with",
        with_properties({"directory.id": None}),
        voter_with_its_directory,
    ),
    "version 0": Case(
        "static", STARTS, "", with_properties({"version": "0", "broker.id": "1", "node.id": None})
    ),
    "version 0 without ids": Case(
        "static",
        ENDS,
        "d1: its meta.properties has no node id and no cluster id",
        written(f"d1/{META}", b"version=0\n"),
        rewrite_with_cluster_id,
    ),
    "version 2": Case(
        "static",
        ENDS,
        "Unknown meta.properties version number 2; restore it from a copy, or write version=1,",
        with_properties({"version": "2"}),
        with_properties({"version": "1"}),
    ),
    "version 2 of a data directory": Case(
        "two", LOSES, "d2: .* version number 2", with_properties({"version": "2"}, f"d2/{META}")
    ),
    "garbage for properties": Case("static", ENDS, "no node id", written(f"d1/{META}", GARBAGE)),
    "no cluster id": Case(
        "static",
        ENDS,
        r"cluster.id was not found\.; .*, or write .*cluster.id=\(that of the other nodes\)",
        with_properties({"cluster.id": None}),
    ),
    "no node id": Case(
        "static",
        ENDS,
        "Failed to find node.id; .*, or write version=1, node.id=1,",
        with_properties({"node.id": None}),
    ),
    "bad escape": Case(
        "static", ENDS, "Malformed .uxxxx encoding", appended(f"d1/{META}", b"x=\\u12\n")
    ),
    "properties are a directory": Case("static", ENDS, "Is a directory", made(f"d1/{META}")),
    # bootstrap.checkpoint
    "no bootstrap file": Case("controller", STARTS, "no bootstrap", removed(f"d1/{BOOTSTRAP}")),
    "garbage in that of a data directory": Case(
        "two", STARTS, "", written(f"d2/{BOOTSTRAP}", GARBAGE)
    ),
    "bootstrap file without footer": Case(
        "controller", STARTS, "not a whole batch", cut(f"d1/{BOOTSTRAP}", 10)
    ),
    "truncated bootstrap file": Case(
        "controller",
        ENDS,
        "not a whole batch",
        cut(f"d1/{BOOTSTRAP}", 200),
    ),
    "bad CRC in the bootstrap file": Case(
        "controller", STARTS, "the CRC does not match", flipped(f"d1/{BOOTSTRAP}", 1)
    ),
    "bootstrap file with unknown records": Case(
        "controller",
        ENDS,
        "the CRC does not match",
        replaced(f"d1/{BOOTSTRAP}", b"\1\x0c", b"\1\x6c"),
    ),
    "bootstrap file is a directory": Case(
        "controller", ENDS, "Is a directory", made(f"d1/{BOOTSTRAP}")
    ),
    "garbage for a broker's bootstrap file": Case(
        "broker",
        ENDS,
        "not a whole batch",
        written(f"d1/{BOOTSTRAP}", GARBAGE),
        removed(f"d1/{BOOTSTRAP}"),
    ),
    "future metadata.version": Case(
        "controller", ENDS, "does not know metadata.version=99", bootstrapped({}, 99), format_again
    ),
    "future metadata.version for a cluster that has begun": Case(
        "used", STARTS, "", bootstrapped({}, 99)
    ),
    # Voters
    "no voters": Case(
        "controller", WAITS, "d1: it has no voters", removed(VOTERS_SNAPSHOT), format_again
    ),
    "bad CRC in the voters": Case(
        "controller", ENDS, "CRC does not match", flipped(VOTERS_SNAPSHOT)
    ),
    "truncated voters": Case("controller", WAITS, "not a whole batch", cut(VOTERS_SNAPSHOT, 140)),
    "voters without footer": Case(
        "controller", STARTS, "not a whole batch", cut(VOTERS_SNAPSHOT, 20)
    ),
    "voter with another directory": Case(
        "controller", WAITS, "it would not vote", voting((1, OTHER_ID)), voter_with_its_directory
    ),
    "voters without this node": Case(
        "controller", WAITS, "this node is not one of its voters", voting((2, OTHER_ID))
    ),
    "static voters beside dynamic ones": Case(
        "controller",
        STARTS,
        "controller.quorum.voters is ignored",
        configured({"controller.quorum.voters": "1@localhost:{port}"}),
    ),
    "dynamic quorum without voters": Case(
        "static",
        WAITS,
        "d1: it has no voters",
        configured(
            {
                "controller.quorum.voters": None,
                "controller.quorum.bootstrap.servers": "localhost:{port}",
            }
        ),
    ),
    "static voters taken out of the configuration": Case(
        "used",
        WAITS,
        "set controller.quorum.voters",
        configured(
            {
                "controller.quorum.voters": None,
                "controller.quorum.bootstrap.servers": "localhost:{port}",
            }
        ),
    ),
    # What lies in the directories
    "metadata log in a data directory": Case(
        "two", ENDS, "metadata log outside of", made("d2/__cluster_metadata-0")
    ),
    "file like a metadata log in a data directory": Case(
        "two",
        ENDS,
        "metadata log outside of",
        written("d2/__cluster_metadata-0", b""),
    ),
    "file for a metadata log": Case(
        "static", ENDS, "Not a directory", written("d1/__cluster_metadata-0", b"")
    ),
    "lost+found": Case(
        "two",
        ENDS,
        "d2/lost.found: it is not the directory of a partition",
        made("d2/lost+found"),
    ),
    "lost+found of a controller": Case("controller", STARTS, "", made("d1/lost+found")),
    "lost+found beside the metadata": Case("apart", STARTS, "", made("m/lost+found")),
    "directory with an odd name": Case(
        "combined", ENDS, "t-x: it is not the directory of a partition", made("d1/t-x")
    ),
    "directories with odd names of partitions": Case(
        "combined",
        STARTS,
        "",
        all_of(
            *(made(f"d1/{name}") for name in ("t--1", "t-+1", "-5-0", "t-0.a-b-delete", "t 0-1"))
        ),
    ),
    "partition in two directories": Case(
        "used", ENDS, "it is the same partition as", copied("d1/kept-*", "d2/{name}"), without_copy
    ),
    "stray in two directories": Case("two", STARTS, "", all_of(made("d1/t-0"), made("d2/t-0"))),
    "file for a partition": Case(
        "used",
        ENDS,
        "a file where a partition's directory belongs",
        with_file_for_partition,
    ),
    "file without offset in a partition": Case(
        "used",
        ENDS,
        "x.log: a start refuses this partition: NumberFormat",
        in_partition("x.log", b""),
    ),
    "garbage for a partition's epochs": Case(
        "used",
        ENDS,
        "leader-epoch-checkpoint: a start refuses this partition",
        in_partition("leader-epoch-checkpoint", GARBAGE[1:]),
    ),
    "garbage for offsets": Case(
        "used",
        LOSES,
        "d2/replication-offset-checkpoint: a start cannot read it",
        written("d2/replication-offset-checkpoint", b"0\n7\n"),
    ),
    "metadata.log.dir not formatted": Case(
        "static", ENDS, "m: it does not exist", configured({"metadata.log.dir": "{folder}/m"})
    ),
    "retired keys": Case(
        "static",
        STARTS,
        "zookeeper.connect is ignored",
        configured({"zookeeper.connect": "localhost:2181", "broker.id.generation.enable": "false"}),
    ),
    # Partitions against the metadata
    "partition in the other directory": Case(
        "used", STARTS, "it is assigned to directory", moved("d1/kept-*", "d2/kept-{number}")
    ),
    "partition missing": Case(
        "used",
        LOSES,
        "d1/kept-.: it is missing, and the metadata has it here, (in sync|eligible to lead)",
        removed("d1/kept-*"),
    ),
    "partition of a topic that was deleted": Case(
        "used",
        LOSES,
        r"d1/kept-.: topic kept has another id now: .*\(100 records, .* as a stray",
        in_partition("partition.metadata", f"version: 0\ntopic_id: {OTHER_ID}\n".encode()),
    ),
    "partition of an unknown topic": Case(
        "used",
        LOSES,
        r"d2/gone-3: there is no topic gone with the id .*\(100 records",
        all_of(
            copied("d1/kept-*", "d2/gone-3"),
            written("d2/gone-3/partition.metadata", f"version: 0\ntopic_id: {OTHER_ID}\n".encode()),
        ),
    ),
    "partition of an unknown number": Case(
        "used",
        LOSES,
        r"d2/kept-7: the topic kept has no partition 7 \(100 records",
        copied("d1/kept-*", "d2/kept-7"),
    ),
    "partition under another name": Case(
        "used",
        LOSES,
        "d1/other-.: its topic id .* is that of kept",
        moved("d1/kept-*", "d1/other-{number}"),
    ),
    "partition without topic id": Case(
        "used", LOSES, "d1/kept-.: it has no topic id", removed("d1/kept-*/partition.metadata")
    ),
    # Names
    "listener that does not resolve": Case(
        "controller",
        ENDS,
        "hosts of listeners do not resolve: nowhere.invalid",
        configured({"listeners": "CONTROLLER://nowhere.invalid:{port}"}),
    ),
    "advertised name that does not resolve": Case(
        "standalone",
        STARTS,
        "advertised hosts do not resolve here: nowhere.invalid",
        configured(
            {"advertised.listeners": "PLAINTEXT://nowhere.invalid:9,CONTROLLER://localhost:{port}"}
        ),
    ),
    "most of the static voters do not resolve": Case(
        "static",
        WAITS,
        "of 3 voters 1 can be reached",
        configured(
            {"controller.quorum.voters": "1@localhost:{port},2@nowhere.invalid:9,3@there.invalid:9"}
        ),
    ),
    "most of the voters do not resolve": Case(
        "controller",
        WAITS,
        "hosts of voters do not resolve: nowhere.invalid .*--listener-hosts nowhere.invalid=NEW",
        voting((1, None), (2, OTHER_ID), host="nowhere.invalid"),
        voting((1, None)),
    ),
    "own name of a controller does not resolve": Case(
        "controller",
        STARTS,
        "hosts of voters do not resolve: nowhere.invalid",
        voting((1, None), host="nowhere.invalid"),
    ),
    "own name of a broker that is controller does not resolve": Case(
        "standalone",
        STARTS,
        "hosts of voters do not resolve: nowhere.invalid",
        voting((1, None), host="nowhere.invalid"),
    ),
    "bootstrap server that does not resolve": Case(
        "broker",
        STARTS,
        "hosts of controllers do not resolve: nowhere.invalid",
        with_bootstrap_server("nowhere.invalid:9"),
    ),
    "bootstrap servers that do not resolve": Case(
        "apart broker",
        WAITS,
        "nowhere.invalid .*; it would look for the leader forever",
        configured({"controller.quorum.bootstrap.servers": "nowhere.invalid:9"}),
    ),
    "only bootstrap server of a controller that joins": Case(
        "apart joining",
        WAITS,
        "nowhere.invalid .*; it would look for the leader forever",
        configured({"controller.quorum.bootstrap.servers": "nowhere.invalid:9"}),
    ),
    # quorum-state
    "garbage for a quorum-state": Case(
        "used", ENDS, "it is not JSON", written(QUORUM_STATE, GARBAGE), removed(QUORUM_STATE)
    ),
    "quorum-state of a newer version": Case(
        "used", ENDS, "its data_version is 2", written(QUORUM_STATE, b'{"data_version":2}')
    ),
    "quorum-state of other voters": Case(
        "used",
        STARTS,
        "last ran with the voters 2: it elects itself",
        written(
            QUORUM_STATE,
            b'{"clusterId":"other","leaderId":2,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,'
            b'"currentVoters":[{"voterId":2}],"data_version":0}',
        ),
        is_risky=True,
    ),
    # The metadata log
    "metadata log of another topic": Case(
        "used",
        ENDS,
        "InconsistentTopicIdException",
        written(f"{LOG}/partition.metadata", f"version: 0\ntopic_id: {OTHER_ID}\n".encode()),
    ),
    "metadata log gone": Case(
        "used", LOSES, "its metadata log is empty, but there are topics in", removed(LOG)
    ),
    "bad CRC in the log": Case(
        "grown",
        LOSES,
        "drops the log from there",
        all_of(removed(f"{LOG}/*-000000000[1-9].checkpoint"), flipped(f"{LOG}/*.log")),
    ),
    "truncated log": Case(
        "grown",
        STARTS,
        "after a start the metadata log ends at offset .*; other files show a longer one",
        in_last_segment(partial(cut, count=10)),
    ),
    "garbage after the log": Case(
        "grown", STARTS, "", in_last_segment(partial(appended, data=GARBAGE))
    ),
    "log without its beginning": Case("grown", STARTS, "", removed(FIRST_SEGMENT)),
    "log without its beginning and snapshots": Case(
        "grown",
        ENDS,
        "offsets 0 to .* are neither in the log",
        all_of(removed(FIRST_SEGMENT), removed(f"{LOG}/*.checkpoint")),
    ),
    "snapshot newer than the log": Case(
        "grown",
        STARTS,
        "",
        with_newer_snapshot,
    ),
    "bad CRC in the latest snapshot": Case(
        "grown", ENDS, "the CRC does not match", flipped(f"{LOG}/*.checkpoint", 1)
    ),
    "snapshot without offset": Case(
        "grown",
        ENDS,
        "too short for the name of a snapshot",
        written(f"{LOG}/old.checkpoint", b""),
    ),
    "log of a newer Kafka": Case(
        "grown",
        ENDS,
        "does not know metadata.version=99",
        with_record(feature_record("metadata.version", 99)),
    ),
    "node id of a broker changed": Case(
        "used",
        WAITS,
        "the cluster knows it as of broker 1, and refuses it of broker 5",
        all_of(
            with_properties({"node.id": "5"}, f"d1/{META}"),
            with_properties({"node.id": "5"}, f"d2/{META}"),
            configured({"node.id": "5", "controller.quorum.voters": "5@localhost:{port}"}),
        ),
    ),
}
