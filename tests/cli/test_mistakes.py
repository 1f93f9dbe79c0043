"""Mistakes of users, each with its answer: what is meant instead, and the exit code."""

import shlex
from pathlib import Path

import pytest

from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    KRAFTOPS,
    METADATA_SHELL,
    STORAGE,
    run_here,
)

PLACES = {
    "META": "tests/data/dump-4.3.1/in/meta",
    "LOG": "tests/data/dump-4.3.1/in/meta-follower/00000000000000000000.log",
    "SNAP": "tests/data/shell/in/crafted/crafted-all.checkpoint",
    "DISK": "tests/data/log-directories/4.3.1/stopped",
}
PROGRAMS = {
    Path(program).name: program
    for program in (CLUSTER, DUMP_LOG, KRAFTOPS, METADATA_SHELL, STORAGE)
}
MISTAKES = (
    ("kraftops explain start_refused", 0, ""),
    ("kraftops explain a b", 4, "without a code, explain lists all"),
    ("kraftops lag", 1, "it is kraftops dump-log summary DIR --log __consumer_offsets"),
    ("kraftops dump-log --follow DISK", 1, "name the directory of one partition"),
    ("kraftops storage recover -c CONF --dry-run", 1, "--voters self makes this node the only"),
    ("kraftops storage verify -c DISK", 1, "-c is a server.properties"),
    ("kraftops storage verify -c CONF --release-version kafka-4.3", 1, "perhaps 4.3 is meant"),
    ("kraftops storage verify -c CONF --release-version 4.9", 1, "the newest release that is"),
    ("kraftops cluster -b b:1 safe-to-stop", 1, "-b goes after a command that takes it: safe-to"),
    ("kraftops cluster safe-to-stop -c CONF --id 1", 1, "-c has client properties"),
    ("kraftops cluster safe-to-stop -b b:1 --id abc", 1, "hint: it is a number, such as 102"),
    ("kraftops cluster decommission --dry-run", 1, "kafka-cluster describe lists the brokers"),
    ("kraftops disk -b b:1 --why t1", 1, "kraftops disk -c server.properties --why t1"),
    ("kraftops changes META --config orders", 1, "kraftops changes DIR --kind config"),
    ("kraftops cluster restart --rack a", 1, "--rack is an option of unregister, describe"),
    ("kraftops cluster repair plain-0", 1, "it takes only options, and needs --id/-i"),
    ("kraftops storage verify DISK", 1, "kraftops doctor DISK examines log directories"),
    ("kraftops dump-log summary", 1, "name files or directories of logs"),
    ("kraftops spark check", 1, "name files or directories of logs"),
    ("kraftops metadata-shell SNAP cat /image", 1, "--snapshot SNAP, if that is meant"),
    ("kraftops changes META --topic nosuch", 4, "topics with changes: "),
    ("kraftops doctor 101", 4, "-b HOST:PORT asks a running cluster"),
    ("kraftops doctor ''", 4, "an empty name names no file"),
    ("kraftops doctor -c DISK", 1, "log directories are named without -c"),
    ("kraftops disk DISK --since 1h", 1, "--since is an option of dump-log, report, changes"),
    ("kraftops disk DISK --why plain-9", 4, "did you mean plain-"),
    ("kraftops disk DISK --why plan", 4, "did you mean plain?"),
    ("kraftops storage info -c DISK/meta.properties", 1, "has the identity of a log directory"),
    ("kraftops doctor DISK --kafka-version 4.3", 1, "did you mean --release-version?"),
    (
        "kraftops cluster rebalance -b localhost:1 -C localhost:2 --throttle 50MBps",
        1,
        "'50MBps' is not a size from 1 to 1024t, perhaps 50m",
    ),
    ("kraftops incidents META --since 2days", 1, "perhaps 2d is meant"),
    ("kraftops incidents META --since 5months", 1, "for example 2026-11-21T10:00:00Z"),
    ("kraftops incidents DISK/plain-0", 1, "is it the log of another topic"),
    ("kraftops report META --output /nosuch/x", 1, "the directory /nosuch does not exist"),
    ("kraftops doctor META/.. --json", 1, "it is --format json"),
    ("kraftops disk META --group-by segment", 1, "Invalid value for '--group-by': 'segment'"),
    ("kraftops help exit codes", 0, ""),
    ("kraftops help how recover-plan works", 0, ""),
    ("kraftops help no-leader", 1, "see kraftops explain no-leader, or"),
    ("kraftops doctor LOG", 1, "kraftops dump-log check LOG"),
    ("kraftops doctor -c bundle.tar.gz", 4, "bundle.tar.gz"),
    ("kraftops help quorum", 1, "see kraftops help a quorum is lost, or"),
    ("kraftops spark find -s META /image -nme x", 1, "-nme: did you mean -name?"),
    ("kraftops spark find /image -name x", 1, "hint: --config finds the source of a node; kraft"),
    ("kraftops help voters", 1, ", or kafka-cluster controllers -b b:9092, or"),
    ("kafka-cluster --timeout 1", 1, "--timeout goes after a command that takes it: cluster-id"),
    ("kafka-storage -c x format", 1, "-c goes after a command that takes it: format"),
    ('kraftops dump-log META --where "leader = 3"', 1, "perhaps value.leader"),
    (
        'kraftops dump-log LOG --where "value.leader = 3"',
        1,
        "perhaps --cluster-metadata-decoder is missing",
    ),
    ('kraftops dump-log META --where "value.leader == 3"', 1, "equality is a single ="),
    ('kraftops dump-log META --where "value.leader = 3 && offset > 3"', 1, "both is: and"),
    ('kraftops dump-log META --where "isr = 3"', 1, "perhaps value.isr"),
    ('kraftops dump-log META --where "value.leadr = 3"', 1, "perhaps leader"),
    ("kraftops dump-log META --where \"topicName = 'a'\"", 1, "perhaps value.topicName"),
    (
        'kraftops dump-log META --where "type = PARTITION_RECORD"',
        1,
        "text is quoted: 'PARTITION_RECORD'",
    ),
    ("kraftops dump-log META --where \"type = 'PARTITION'\"", 1, "perhaps PARTITION_RECORD"),
    ("kraftops cluster safe-to-stop -b localhost:1 103", 1, "--id 103, if that is meant"),
    ("kraftops cluster drain -b localhost:1 103", 1, "--id 103, if that is meant"),
    ("kraftops cluster unregister -b localhost:1 103", 1, "--id 103, if that is meant"),
    ("kraftops cluster describe -b localhost:1 103", 1, "--id 103, if that is meant"),
    (
        "kafka-metadata-shell -s SNAP brokers",
        0,
        "kraftops metadata-shell has it, and --format json of",
    ),
    (
        "kraftops metadata-shell -s SNAP ls /topics",
        1,
        "/topics: no such file or directory. Did you mean /image/topics?",
    ),
    (
        "kraftops metadata-shell -s SNAP cat /image/topics/byName/nosuch",
        1,
        "/image/topics/byName/nosuch: No such file or directory.",
    ),
    (
        "kafka-storage version",
        0,
        "note: version is read as version-mapping; --version shows the version",
    ),
    ("kafka-cluster version", 1, "--version shows it"),
    ("kraftops version", 1, "--version shows it"),
    (
        "kraftops dump-log CONF",
        1,
        "kraftops storage info -c CONF shows its directories, and --config",
    ),
    (
        "kraftops dump-log --files CONF",
        1,
        "kraftops storage info -c CONF shows its directories, and --config",
    ),
    ("kraftops metadata-shell -s CONF ls /", 1, "-c CONF finds its log"),
    ("kraftops disk CONF", 1, "-c CONF"),
    ("kraftops doctor CONF", 1, "-c CONF"),
    ("kraftops changes CONF", 1, "--config CONF asks its controllers"),
    ("kraftops report CONF --format json", 1, "--config CONF asks its controllers"),
    ("kraftops ls", 1, "it is kraftops metadata-shell ls"),
    ("kraftops describe -b localhost:1", 1, "it is kraftops cluster describe"),
    ("kraftops dump META", 1, "perhaps dump-log is meant"),
    ("kraftops topics", 1, "it is kraftops metadata-shell topics"),
    ("kraftops cluster topics", 1, "it is kraftops metadata-shell topics"),
    (
        "kraftops cluster describe",
        1,
        "one of the arguments --bootstrap-server/-b --bootstrap-controller/-C",
    ),
    (
        "kraftops cluster describe localhost:1",
        1,
        "--bootstrap-server localhost:1, if that is meant",
    ),
    ("kraftops cluster describe -b localhost", 1, "addresses are HOST:PORT, separated by commas"),
    (
        "kraftops cluster describe --bootstrap localhost:1",
        1,
        "ambiguous option: --bootstrap could match --bootstrap-controller,",
    ),
    (
        "kraftops dump-log META --limit=abc",
        1,
        "Invalid value for '--limit': 'abc' is not a number from 0 to 2147483647",
    ),
    (
        "kraftops dump-log META --since tomorrow",
        1,
        "for example 2026-11-21T10:00:00Z, 2026-11-21 10:00, 14:02, yesterday 14:02, 2h",
    ),
    (
        "kraftops dump-log META --since 25:00",
        1,
        "for example 2026-11-21T10:00:00Z, 2026-11-21 10:00, 14:02, yesterday 14:02, 2h",
    ),
    (
        "kraftops dump-log META --format xml",
        1,
        "Invalid value for '--format': 'xml' is not one of 'text', 'json',",
    ),
    ("kraftops dump-log META --format parquet", 1, "--format parquet needs --output FILE"),
    ("kraftops dump-log META --offset 5-9", 1, "as 100..200, 100.., ..200, 100"),
    ("kraftops dump-log META --type NOSUCH", 1, "--summary shows the types of a log"),
    ("kraftops dump-log META --topic nosuch", 4, "none of these logs knows a topic nosuch"),
    ("kraftops dump-log nosuch", 4, "cannot read nosuch: No such file or directory"),
    (
        "kraftops dump-log META/nosuch.log",
        4,
        "cannot read META/nosuch.log: No such file or directory",
    ),
    ("kraftops storage info", 1, "argument --config/-c is required"),
    ("kraftops storage format -c CONF", 1, "argument --cluster-id/-t is required"),
    ("kraftops storage verify CONF", 1, "--config CONF, if that is meant"),
    ("kraftops storage random-uuid x", 1, "unrecognized arguments: 'x'"),
    ("kraftops explain no-such-code", 4, "near: not-supported, no-records, no-archive"),
    ("kraftops explain missingend", 4, "near: missing-end, "),
    ("kraftops disk --why orders:1", 1, "--why orders:1: expected TOPIC or TOPIC-N, as"),
    ("kraftops disk --why 'orders partition 1'", 1, "TOPIC-N, as orders-1"),
    ("kraftops disk --group-by topics", 1, "'topics' is not one of 'topic', 'partition', 'broker'"),
    ("kraftops disk --sort bytes", 1, "--sort is an option of dump-log"),
    ("kraftops disk DISK orders", 4, "cannot read orders: No such file or directory"),
    ("kraftops doctor http://kafka:9092", 4, "-b kafka:9092 asks a running cluster"),
    ("kraftops doctor kafka-1.example.com:9092", 4, "-b kafka-1.example.com:9092 asks"),
    ("kraftops doctor -b kafka", 1, "addresses are HOST:PORT, separated by commas"),
    ("kraftops doctor -b 'k1:9092 k2:9092'", 1, "addresses are HOST:PORT, separated by commas"),
    ("kraftops doctor -b \"'k1:9092'\"", 1, "addresses are HOST:PORT, separated by commas"),
    ("kraftops doctor -b k1:9092/", 1, "addresses are HOST:PORT, separated by commas"),
    ("kraftops doctor -b k1:99999", 1, "has a port that is not between 1 and 65535"),
    ("kraftops doctor --bootstrap-servers k1:9092", 1, "did you mean --bootstrap-server?"),
    ("kraftops doctor --json DISK", 1, "it is --format json"),
    ("kraftops doctor -c DISK", 1, "log directories are named without -c"),
    ("kraftops explain no_leader", 0, ""),
    ("kraftops explain '[No Leader]'", 0, ""),
    ("kraftops changes META --last 1h", 1, "did you mean --since?"),
    (
        "kraftops changes META --since 28.11.2026",
        1,
        "for example 2026-11-21T10:00:00Z, 2026-11-21 10:00",
    ),
    ("kraftops changes META --since '2 hours ago'", 1, "14:02, yesterday 14:02, 2h or -2h"),
    ("kraftops incidents META --since 2026-11-28T25:00", 1, "'2026-11-28T25:00' is not a valid"),
    ("kraftops cluster safe-to-stop -b k1:1 --broker-id 101", 1, "did you mean --id?"),
    ("kraftops cluster decommission -b k1:1 --broker 101", 1, "did you mean --id?"),
    ("kraftops cluster safe-to-stop -b k1:1 --id 101 102", 1, "--id 102, if that is meant"),
    ("kraftops cluster describe k1:9092", 1, "--bootstrap-server k1:9092, if that is meant"),
    (
        "kraftops cluster wait -b k1:1 --for brokers=1 --timeout 5min",
        1,
        "'5min' is not a number of seconds from 0 to 10000000, perhaps 300",
    ),
    ("kraftops dump-log META --max-memory 50MB", 1, "a size from 64m to 1024t, as 512m or 2g"),
    ("kraftops dump-log META --max-memory 64MiB", 1, "a size from 64m to 1024t, perhaps 64m"),
    (
        "kraftops dump-log summary DISK --group-by topic",
        1,
        "kraftops disk DIR adds up the bytes by",
    ),
    ("kraftops dump-log META --follow --tail 2", 1, "--follow --since -5m shows the last minutes"),
    ("kraftops metadata-shell -s META 'ls /image'", 1, "its words are not quoted together"),
    ("kraftops metadata-shell -s META ls --long", 1, "usage: ls [-l]"),
    (
        "kraftops disk --limit 0",
        1,
        "Invalid value for '--limit': '0' is not a number from 1 to 1000000",
    ),
    ("kraftops wait --for brokers=1", 1, "it is kraftops cluster wait"),
    ("kraftops cluster wait -b localhost:1", 1, "argument --for is required"),
    (
        "kraftops cluster wait -b localhost:1 --for brokers>1",
        1,
        "conditions are brokers=N, brokers=N:unfenced, broker=ID:fenced,",
    ),
    (
        "kraftops cluster wait -b localhost:1 --for broker=1:up",
        1,
        "conditions are brokers=N, brokers=N:unfenced, broker=ID:fenced,",
    ),
    ("kraftops cluster restart -b localhost:1", 1, "argument --hook is required"),
    (
        "kraftops cluster rebalance -b localhost:1 -C localhost:2 --to a",
        1,
        "argument --to: could not convert 'a' to Integer (For input string:",
    ),
    ("kraftops spark META", 1, "invalid choice: 'META'"),
    ("kraftops spark dump META --sql", 1, "--sql needs a value"),
    ("kraftops coordinator-partition orders", 1, "--group orders, if that is meant"),
    (
        "kraftops coordinator-partition --group g --partitions 0",
        1,
        "Invalid value for --partitions: '0' is not a number from 1 to 2147483647",
    ),
    ("kraftops dump-log -b k1:9092 --follow", 1, "topics are read from the disk of a broker"),
    ("kraftops incidents META --since 14:00 --until", 1, "argument --until: expected one argument"),
    ("kraftops incidents META --sinse 14:00", 1, "did you mean --since?"),
    ("kraftops report META", 1, "--output report.html"),
    ("kraftops help nosuch", 1, "kraftops help lists them"),
    (
        "kraftops --color=blue explain",
        1,
        "Invalid value for '--color': 'blue' is not one of 'auto', 'always',",
    ),
    (
        "kraftops --max-memory 1 explain",
        1,
        "Invalid value for '--max-memory': '1' is not a size from 64m to 1024t,",
    ),
    ("kraftops storage format -c CONF --clusterid x", 1, "did you mean --cluster-id?"),
    ("kraftops dump-log META --follow --limit 3", 1, "--follow and --limit do not go together"),
    (
        "kraftops dump-log META --cluster-metadata-decoder --print-data",
        1,
        "there is no option --print-data: did you mean --print-data-log?",
    ),
    (
        'kraftops dump-log META --where "value.leader ="',
        1,
        "for example value.leader = 3, type in ('TOPIC_RECORD'), headers.trace ~ '^a'",
    ),
    (
        "kraftops dump-log META --where \"value.leader = 'x'\"",
        1,
        "in the condition \"value.leader = 'x'\", at character 14: value.leader",
    ),
    ('kraftops dump-log META --where "offset ~ 3"', 1, "in quotes"),
    ('kraftops dump-log META --where "key = abc"', 1, "text is quoted: 'abc'"),
    ("kraftops doctor --only nosuch META", 4, "near: no-epochs, no-archive"),
    ("kraftops doctor --baseline CONF META", 1, "kraftops doctor --format json > FILE makes one"),
    ("kraftops check META", 1, "it is kraftops dump-log check"),
    ("kraftops find /", 1, "it is kraftops metadata-shell find"),
    ("kafka-cluster wait2", 1, "perhaps wait is meant"),
    ("kraftops metadata-shell -s SNAP cat /cluster/1", 1, "/cluster/1: No such file or directory."),
    (
        "kraftops storage version",
        0,
        "note: version is read as version-mapping; --version shows the version",
    ),
    (
        "kraftops metadata-shell -s SNAP brokrs",
        1,
        "there is no command brokrs: did you mean brokers?",
    ),
    (
        "kraftops metadata-shell ls /",
        1,
        "--config finds the source of a node, --controllers asks a running",
    ),
    ("kraftops metadata-shell -s nosuch ls /", 4, "cannot read nosuch: No such file or directory"),
    (
        "kraftops metadata-shell -s SNAP --at-time 25:00 ls /",
        1,
        "Invalid value for '--at-time': '25:00' is not a valid time",
    ),
    (
        "kraftops metadata-shell -s SNAP --at-offset x ls /",
        1,
        "Invalid value for '--at-offset': 'x' is not a valid integer.",
    ),
)
"""Command lines, their exit codes, and a part of the answer on standard error."""


@pytest.mark.parametrize(("line", "code", "answer"), MISTAKES)
def test_mistake_is_answered_by_what_is_meant(
    line: str, code: int, answer: str, tmp_path: Path
) -> None:
    config = tmp_path / "server.properties"
    config.write_text("process.roles=broker\nnode.id=1\n")
    places = {**PLACES, "CONF": str(config)}
    program, *words = (
        " ".join(places.get(part, part) for part in word.split(" "))
        .replace("META/", f"{places['META']}/")
        .replace("DISK/", f"{places['DISK']}/")
        for word in shlex.split(line)
    )

    done = run_here(*words, program=PROGRAMS[program])

    for name, place in places.items():
        answer = answer.replace(name, place)
    assert done.code == code
    assert answer in done.err


def test_table_is_large() -> None:
    assert len({line for line, *_ in MISTAKES}) >= 92
