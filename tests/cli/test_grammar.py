"""One grammar: over all commands one option has one meaning, and one meaning one option."""

import json
from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from kraftops_cli.root import root
from kraftops_cli.syntax.common_options import COMMON_OPTIONS
from kraftops_cli.syntax.option_fields import RenamedOption
from tests.helpers.logs.log_directories import REAL
from tests.helpers.tools.console import DUMP_LOG, KRAFTOPS, run_here

MEANINGS = {
    "--add-scram": "a SCRAM user of a new cluster",
    "--add-scram-file": "a file of SCRAM users of a new cluster",
    "--all-fenced": "every broker that is fenced",
    "--allow-single-replica": "partitions of a single replica may go offline",
    "--at-offset": "the state after the record of an offset",
    "--at-once": "most brokers of a rack that restart together",
    "--at-time": "the state at a time",
    "--authorizer-log": "a log of the authorizer of Kafka, for who asked",
    "--backup": "where the copy of the old log goes",
    "--baseline": "the JSON of an earlier run, to tell what is new",
    "--batch": "most partitions in flight",
    "--bootstrap-controller": "addresses of controllers (Kafka's name in kafka-cluster)",
    "--bootstrap-server": "addresses of brokers",
    "--broker": "changes about a broker",
    "--by": "the successor of a controller",
    "--check": "say what is damaged",
    "--check-disks": "refuse a plan without room",
    "--check-permissions": "print the permissions that are needed",
    "--choose": "the log that goes on",
    "--cluster-id": "the cluster id of a node",
    "--cluster-metadata-decoder": "Kafka's",
    "--color": "colours",
    "--command-config": "client properties, for login and TLS",
    "--compare": "differences alone",
    "--conf": "a configuration of Spark",
    "--config": "the server.properties of a node",
    "--controller-config": "client properties for controllers",
    "--controllers": "addresses of controllers (Kafka's name in kafka-metadata-shell)",
    "--csv-safe": "CSV for spreadsheets",
    "--deep": "read everything",
    "--deep-iteration": "Kafka's",
    "--dialect": "the dialect of metadata records",
    "--dry-run": "show what would be done, and do nothing",
    "--elect-newest": "elect the newest copies",
    "--elect-unclean": "leaderless partitions that a replica which lacks records may lead",
    "--ensure": "accept what is formatted alike",
    "--exclude-topic": "a topic that is left alone",
    "--expect-cluster-id": "refuse another cluster",
    "--factor": "the number of replicas",
    "--feature": "a feature and its level",
    "--fenced": "only fenced brokers",
    "--fenced-for": "only brokers fenced for a time",
    "--files": "Kafka's",
    "--follow": "go on with what is new",
    "--for": "a condition to wait for",
    "--force": "do it in spite of the danger that is told",
    "--format": "the form of the output",
    "--from": "disks of other nodes, which are only read",
    "--from-dir": "the log directory that replicas leave",
    "--from-start": "all segments and no snapshot",
    "--group": "the name of a group",
    "--group-by": "what the rows are about",
    "--here": "check this host",
    "--hook": "the command that restarts a node",
    "--hook-timeout": "seconds for the hook",
    "--html": "write a page too",
    "--id": "ids of nodes",
    "--if-registered": "a broker that is not there is no error",
    "--ignore-formatted": "Kafka's",
    "--incident": "the number of an incident",
    "--include-fenced-brokers": "Kafka's",
    "--index-sanity-check": "Kafka's",
    "--initial-controllers": "Kafka's",
    "--jobs": "threads",
    "--kafka-home": "an installation of Kafka",
    "--key": "records with a key",
    "--key-decoder-class": "Kafka's",
    "--kind": "the kind of a change",
    "--limit": "most things that are printed",
    "--listener": "a listener of a new voter",
    "--listener-hosts": "new hosts of the voters",
    "--log": "a log",
    "--log-dirs": "disks of other nodes (the other name of --from in recover)",
    "--master": "Spark's master",
    "--max-bytes": "Kafka's",
    "--max-memory": "the memory budget",
    "--max-output": "the most bytes of rows",
    "--max-message-size": "Kafka's",
    "--metadata": "metadata directories of other nodes",
    "--min-isr": "the default of min.insync.replicas",
    "--no-backup": "make no copy",
    "--no-escape": "control characters as they are",
    "--no-history": "keep no lines",
    "--no-initial-controllers": "Kafka's",
    "--no-wait": "do not wait",
    "--node-id": "the node id of a node",
    "--offline": "ask no controller",
    "--offset": "a range of offsets",
    "--offsets-decoder": "Kafka's",
    "--only": "only these codes",
    "--output": "where the result is written: a file, or a new directory for several",
    "--override": "a configuration key",
    "--overwrite": "replace the output",
    "--partition-by": "directories of the output",
    "--partitions": "the number of partitions",
    "--plan": "a file that an earlier run has written",
    "--print-data-log": "Kafka's",
    "--rack": "brokers of a rack",
    "--raw": "choose no decoder by the topic",
    "--release-version": "a release of Kafka",
    "--remote-log-metadata": "logs of __remote_log_metadata",
    "--remote-log-metadata-decoder": "Kafka's",
    "--resolve": "look up names",
    "--roles": "nodes with a role",
    "--salvage": "go on after damage",
    "--save": "keep the order before in a file",
    "--share-group-state-decoder": "Kafka's",
    "--shared-paths": "all nodes see the same files",
    "--shell": "a shell of the command line",
    "--show-secrets": "redact nothing",
    "--since": "from this time on",
    "--single-file": "join the parts",
    "--sink": "a kind of table",
    "--skip": "leave out codes",
    "--skip-invalid": "leave out batches with a wrong checksum",
    "--skip-record-metadata": "Kafka's",
    "--snapshot": "files of a metadata log",
    "--sort": "the order of the rows",
    "--spark": "run on Spark",
    "--sql": "a question in SQL",
    "--stall-timeout": "seconds without any progress",
    "--standalone": "Kafka's",
    "--strict": "refuse what Kafka takes",
    "--summary": "count",
    "--tail": "the last records",
    "--take-over": "go on with another process's work",
    "--throttle": "most bytes a second",
    "--timeout": "the longest wait for servers",
    "--title": "a title",
    "--to": "brokers that take replicas",
    "--to-dir": "log directories that take replicas",
    "--to-v1": "make version 1",
    "--top": "the first logs of a summary, where --limit is about records",
    "--topic": "a topic",
    "--transaction-log-decoder": "Kafka's",
    "--txn-id": "a transactional id",
    "--type": "types of records",
    "--undo": "restore what was before",
    "--unseen-broker": "brokers whose disks are not at hand",
    "--until": "before this time",
    "--value-decoder-class": "Kafka's",
    "--verbose": "the log of Spark",
    "--verify-index-only": "Kafka's",
    "--version": "the version",
    "--voters": "the new voters",
    "--wait": "wait for the end",
    "--watch": "seconds until it is repeated",
    "--where": "a condition in our language",
    "--why": "a partition to explain",
    "--yes": "do not ask",
}
"""What an option means, in all commands that have it: a second meaning needs another name."""


def walk(
    command: click.Command, words: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    """Yield each command with the words that run it."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below
            yield from walk(below, (*words, name))


TREE = dict(walk(root))


def options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


def long_names(option: click.Option) -> list[str]:
    names = option.present if isinstance(option, RenamedOption) else option.opts
    return [name for name in names if name.startswith("--")]


def test_table_has_the_meaning_of_each_option() -> None:
    there = {
        n for command in TREE.values() for option in options(command) for n in long_names(option)
    }

    assert there == set(MEANINGS)


def test_no_meaning_has_two_names() -> None:
    by_meaning = defaultdict(list)
    for name, meaning in MEANINGS.items():
        by_meaning[meaning].append(name)
    del by_meaning["Kafka's"]

    assert [names for names in by_meaning.values() if len(names) > 1] == []


def test_values_of_an_option_are_of_one_kind() -> None:
    """Values of one name are read alike: flags, numbers, sizes, times, paths."""
    flags = defaultdict(set)
    for command in TREE.values():
        for option in options(command):
            for name in long_names(option):
                flags[name].add(option.is_flag)

    assert [name for name, kinds in flags.items() if len(kinds) > 1] == []


@pytest.mark.parametrize("words", [words for words in TREE if words and " " not in words])
def test_short_name_means_one_thing_within_a_tool(words: str) -> None:
    shorts = defaultdict(set)
    for path, command in TREE.items():
        if path == words or path.startswith(f"{words} "):
            for option in options(command):
                for name in option.opts:
                    if not name.startswith("--"):
                        shorts[name] |= {*long_names(option)} - {"--config"}

    assert [name for name, meant in shorts.items() if len(meant) > 1] == []


def test_answers_have_text_and_json() -> None:
    forms = {
        words: option.type.choices
        for words, command in TREE.items()
        for option in options(command)
        if option.opts[0] == "--format" and isinstance(option.type, click.Choice)
    }

    assert {words for words, choices in forms.items() if "json" not in choices} == set()
    others = {words for words, choices in forms.items() if tuple(choices) != ("text", "json")}
    # Rows in files, pages, and Kafka's shell.
    assert others <= {
        *("dump-log", "spark dump", "report", "spark report", "metadata-shell", "storage info"),
    }, others


def test_every_command_takes_the_options_of_kraftops() -> None:
    common = {str(option.name) for option in COMMON_OPTIONS}
    leaves = {w: c for w, c in TREE.items() if not (isinstance(c, click.Group) and w != "dump-log")}

    assert {w for w, c in leaves.items() if not common <= {o.name for o in c.params}} == set()
    assert common <= {option.name for option in root.params}


STOPPED = str(REAL / "stopped")
NOBODY = ("-b", "localhost:1", "--timeout", "0.1")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        (("disk", "--by", "topic", STOPPED), "--by is now called --group-by"),
        (("disk", "--by=topic", STOPPED), "--by is now called --group-by"),
        (("disk", "--group-by", "topic", STOPPED), ""),
        (("cluster", "wait", *NOBODY, "--until", "brokers=1"), "--until is now called --for"),
        (("cluster", "rebalance", *NOBODY, "--plan-only"), "--plan-only is now called --dry-run"),
        (("spark", "dump", "--explain", "--csv-safe", "x"), "--explain is now called --dry-run"),
    ],
)
def test_former_name_works_with_a_note(words: tuple[str, ...], note: str) -> None:
    done = run_here(*words, program=KRAFTOPS)

    notes = [line for line in done.errors if "is now called" in line]
    assert notes == ([f"kraftops: note: {note}"] if note else [])
    assert done.code == {"disk": 0, "cluster": 5, "spark": 1}[words[0]]


def test_options_of_kraftops_may_stand_before_the_command() -> None:
    done = run_here("--color", "always", "explain", program=KRAFTOPS)

    assert (done.code, "\x1b[" in done.text) == (0, True)


def test_parts_of_a_dump_are_commands() -> None:
    for part in ("check", "summary"):
        done = run_here("dump-log", part, STOPPED, "--format", "json", program=KRAFTOPS)
        option = run_here("dump-log", f"--{part}", STOPPED, "--format", "json", program=KRAFTOPS)

        assert (done.code, json.loads(done.text)) == (option.code, json.loads(option.text))
    # Under Kafka's name it is a file.
    assert run_here("check", program=DUMP_LOG).errors[0].startswith("kafka-dump-log: cannot read")
