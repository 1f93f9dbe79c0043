"""Names from data on a pseudo-terminal: every command shows escapes and obeys none."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from kraftops.views.registry import VIEWS
from tests.helpers.engine.random_messages import frame_bytes, framed_messages
from tests.helpers.logs.coordinators import messages
from tests.helpers.logs.messages import encoded, filled, table, versions_of
from tests.helpers.logs.metadata_logs import voters_batch, write_log
from tests.helpers.logs.random_logs import LogBatch, MetadataRecord, new_record, uuid
from tests.helpers.logs.written import batch_bytes
from tests.helpers.nodes.node_directories import CLUSTER_ID, format_node, make_node
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    ENVIRONMENT,
    KRAFTOPS,
    METADATA_SHELL,
    STORAGE,
)
from tests.helpers.tools.hostile import FORBIDDEN, NAME, check_shown, on_terminal, on_terminals
from tests.helpers.tools.terminal_program import Screen

OTHER = "b" + NAME.partition("\n")[0]
FILE = os.fsencode(NAME) + b"\xff"
TOPICS = ("__consumer_offsets", "__transaction_state", "__share_group_state")
LINES_OF_VALUES = "every leaf of Kafka's"
"""As Kafka's shell, cat has the lines of a value as lines."""
LATER = 100  # the offset of the records of every type


def every_metadata_record() -> list[MetadataRecord]:
    """Return a record of each type and version, with hostile texts."""
    return [
        new_record(message.name, version, **filled(message.fields, version, NAME))
        for message in table("metadata").values()
        for version in versions_of(message)
    ]


def every_coordinator_record(decoder: str) -> list[tuple[bytes, bytes]]:
    """Return keys and values of each type and version, with hostile texts."""
    found = []
    for number, (key, value) in messages(decoder).items():
        raw_key = number.to_bytes(2) + encoded(key, 0, filled(key.fields, 0, NAME))
        for version in versions_of(value):
            data = filled(value.fields, version, NAME)
            found.append((raw_key, version.to_bytes(2) + encoded(value, version, data)))
            if value.name == "GroupMetadataValue":
                data["protocolType"] = "consumer"
                for member in data["members"]:
                    member["subscription"] = of_consumer("Subscription")
                    member["assignment"] = of_consumer("Assignment")
                found.append((raw_key, version.to_bytes(2) + encoded(value, version, data)))
    return found


def of_consumer(name: str) -> bytes:
    message = table("consumer")[f"ConsumerProtocol{name}"]
    version = versions_of(message)[-1]
    return version.to_bytes(2) + encoded(message, version, filled(message.fields, version, NAME))


def every_remote_record() -> list[tuple[None, bytes]]:
    """Return values of each type and version, with hostile texts."""
    return [
        (
            None,
            frame_bytes("kafka", number, version)
            + encoded(message, version, filled(message.fields, version, NAME)),
        )
        for number, message in framed_messages("remote", "kafka")
        for version in versions_of(message)
    ]


def write_segment(folder: Path, records: Sequence[tuple[bytes | None, bytes]]) -> None:
    folder.mkdir()
    raw = NAME.encode()
    made = [Record(at, 9, *pair, ((raw, raw + b"\xff"),)) for at, pair in enumerate(records)]
    (folder / "00000000000000000000.log").write_bytes(batch_bytes(made))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    one = uuid(1)
    records = [
        new_record("FeatureLevelRecord", name="metadata.version", featureLevel=20),
        new_record("FeatureLevelRecord", name=NAME, featureLevel=1),
        new_record("TopicRecord", name=NAME, topicId=one),
        new_record("TopicRecord", name=OTHER, topicId=uuid(9)),
        new_record("PartitionRecord", 1, partitionId=0, topicId=one, replicas=[1], isr=[1]),
        new_record("ConfigRecord", resourceType=2, resourceName=NAME, name=NAME, value=NAME),
        new_record("UserScramCredentialRecord", name=NAME, mechanism=1, salt=b"s"),
        new_record(
            "AccessControlEntryRecord", id=uuid(2), resourceName=NAME, principal=NAME, host=NAME
        ),
        new_record(
            "RegisterBrokerRecord",
            brokerId=1,
            incarnationId=uuid(3),
            rack=NAME,
            endPoints=[{"name": NAME, "host": NAME, "port": 1, "securityProtocol": 0}],
        ),
        new_record(
            "ClientQuotaRecord",
            entity=[{"entityType": NAME, "entityName": NAME}],
            key=NAME,
            value=1.0,
        ),
    ]
    every = [bytes(LogBatch(LATER + at, [one])) for at, one in enumerate(every_metadata_record())]
    voters = voters_batch(len(records), (1, uuid(3)), host=NAME)
    write_log(folder, {0: [bytes(LogBatch(0, records)), voters]})
    write_log(folder / "every", {0: [bytes(LogBatch(0, records)), *every]})
    for topic, decoder in zip(TOPICS, ("offsets", "transaction", "share"), strict=True):
        write_segment(folder / f"{topic}-0", every_coordinator_record(decoder))
    write_segment(folder / "__remote_log_metadata-0", every_remote_record())
    write_segment(folder / "user-0", [(NAME.encode(), NAME.encode() + b"\xff")])
    (folder / "script").write_text(SCRIPT, encoding="utf-8")
    for name in (FILE + b"-0", FILE + b"-1"):
        path = os.path.join(os.fsencode(folder), name)
        os.mkdir(path)
        batch = batch_bytes([Record(0, 0, NAME.encode(), NAME.encode() + b"\xff")])
        with open(os.path.join(path, b"00000000000000000000.log"), "wb") as file:
            file.write(batch + b"damage" * 20)
    node = make_node(folder / "node", log_dirs=f"d1,{NAME}")
    format_node(node)
    (node / NAME / "stray").touch()
    line = NAME.replace("\n", "\\n")
    (folder / "hostile.properties").write_text(
        f"security.protocol={line}\n{line}={line}\n", encoding="utf-8"
    )
    return folder


LOG = "__cluster_metadata-0"
SEGMENT = FILE + b"-0/00000000000000000000.log"
OURS = (KRAFTOPS, "metadata-shell", "-s", LOG)
KAFKAS = (METADATA_SHELL, "-s", LOG)
TABLES = (*VIEWS, "groups")
COMMANDS: dict[str, tuple[str | bytes, ...]] = {
    "dump metadata": (DUMP_LOG, "--cluster-metadata-decoder", "--files", LOG),
    "dump json": (DUMP_LOG, "--cluster-metadata-decoder", "--format", "json", "--files", LOG),
    "summary": (DUMP_LOG, "--summary", "--files", SEGMENT),
    "summaries": (DUMP_LOG, "--summary", "--files", b"./"),
    "check": (DUMP_LOG, "--check", "--files", FILE + b"-0"),
    "report": (KRAFTOPS, "report", LOG, FILE + b"-0", "--title", NAME, "--format", "json"),
    "report of no log": (KRAFTOPS, "report", FILE + b"-7", "--format", "json"),
    "no such log": (DUMP_LOG, "--files", FILE + b"-7"),
    "kafka ls": (*KAFKAS, "ls", "/image/topics/byName"),
    "kafka find": (*KAFKAS, "find", "/"),
    "kafka missing": (*KAFKAS, "cat", "/" + NAME.replace("\n", " ")),
    "ls": (*OURS, "ls", "/image/topics/byName", "/image/cluster/brokers"),
    "ls -l": (*OURS, "ls", "-l", "/image/topics/byName"),
    "find": (*OURS, "find", "/"),
    "find -maxdepth": (*OURS, "find", "/image", "-maxdepth", "4"),
    "tree": (*OURS, "tree", "/"),
    "grep": (*OURS, "grep", "title", "/"),
    "stat": (*OURS, "stat", "/image/topics/byName/*"),
    "summary of the image": (*OURS, "summary"),
    "verify the image": (*OURS, "verify"),
    "diff": (*OURS, "diff", "@0", "@9"),
    "history": (*OURS, "history-of", "/image/topics/byName/*"),
    "info": (STORAGE, "info", "-c", "node/server.properties"),
    "info table": (STORAGE, "info", "-c", "node/server.properties", "--format", "table"),
    "verify": (STORAGE, "verify", "-c", "node/server.properties"),
    "no such file": (STORAGE, "info", "-c", os.fsencode(NAME) + b"\xff"),
    "dump csv": (DUMP_LOG, "--cluster-metadata-decoder", "--format", "csv", "--files", LOG),
    "dump safe csv": (DUMP_LOG, "--format", "csv", "--csv-safe", "--files", SEGMENT),
    "salvage": (DUMP_LOG, "--salvage", "--print-data-log", "--files", SEGMENT),
    "summary of one": (DUMP_LOG, "--summary", "--log", NAME, "--files", b"./"),
    "no such topic": (DUMP_LOG, "--topic", NAME, "--cluster-metadata-decoder", "--files", LOG),
    "no such type": (DUMP_LOG, "--type", NAME, "--cluster-metadata-decoder", "--files", LOG),
    "bad condition": (DUMP_LOG, "--where", f"value.x = {NAME}", "--files", LOG),
    "bad option": (DUMP_LOG, f"--{NAME}"),
    "bad value": (DUMP_LOG, "--max-bytes", NAME, "--files", LOG),
    "bad time": (DUMP_LOG, "--since", NAME, "--files", LOG),
    "output that exists": (DUMP_LOG, "--files", SEGMENT, "--output", SEGMENT),
    "output nowhere": (DUMP_LOG, "--files", SEGMENT, "--output", FILE + b"/x"),
    "bad master": (DUMP_LOG, "--spark", "--master", NAME, "--files", LOG),
    "bad command": (KRAFTOPS, NAME),
    "kafka bad command": (*KAFKAS, NAME),
    "kafka cat": (*KAFKAS, "cat", "/image/configs/*/*"),
    "kafka tree": (*KAFKAS, "tree", "/"),
    "cat": (*OURS, "--show-secrets", "cat", "/image/configs/*/*", "/image/acls/byId/*"),
    "export": (*OURS, "export", "/image"),
    "export lines": (*OURS, "export", "/image", "--format", "ndjson"),
    "export nowhere": (*OURS, "export", "/image", "--output", NAME + "/x"),
    "blame": (*OURS, "blame", "/image/acls/byId/*"),
    "log": (*OURS, "log"),
    "log csv": (*OURS, "log", "--format", "csv"),
    **{f"view {name}": (*OURS, name) for name in TABLES},
    **{f"view {name} as csv": (*OURS, name, "--format", "csv") for name in ("configs", "acls")},
    "what if": (*OURS, "what-if", "--lose", "1"),
    "skew": (*OURS, "skew"),
    "bad view": (*OURS, "topics", "--where", f"name = {NAME}"),
    "bad column": (*OURS, "topics", "--columns", NAME),
    "no such node": (*OURS, "cat", "/image/" + NAME.replace("\n", " ")),
    "no such word": (*OURS, NAME),
    "bad moment": (*OURS, "diff", "@" + NAME),
    "verify table": (STORAGE, "verify", "-c", "node/server.properties", "--format", "json"),
    "rewrite": (STORAGE, "rewrite", "-c", "node/server.properties", "--node-id", "7", "--dry-run"),
    "rewrite refused": (STORAGE, "rewrite", "-c", "node/server.properties", "-t", NAME),
    "format again": (STORAGE, "format", "-c", "node/server.properties", "-t", CLUSTER_ID),
    "format elsewhere": (STORAGE, "format", "-c", "node/server.properties", "-t", NAME),
    "bad override": (STORAGE, "info", "-c", "node/server.properties", "--override", f"a={NAME}"),
    "wrong override": (
        *(STORAGE, "info", "-c", "node/server.properties"),
        *("--override", f"num.partitions={NAME}"),
    ),
    "recover": (STORAGE, "recover", "-c", "node/server.properties", "--from", NAME),
    "bad address": (CLUSTER, "describe", "-b", NAME),
    "bad settings": (CLUSTER, "describe", "-b", "h:1", "--command-config", "hostile.properties"),
    "no such settings": (CLUSTER, "describe", "-b", "h:1", "--command-config", NAME),
    "bad plan": (CLUSTER, "undrain", "-b", "h:1", "--plan", "hostile.properties"),
}


EVERY = "every/__cluster_metadata-0"
OF_EVERY = (KRAFTOPS, "metadata-shell", "-s", EVERY)
FORMS = {"text": ("--print-data-log",), **{form: ("--format", form) for form in ("json", "csv")}}
DECODERS = {
    EVERY: "--cluster-metadata-decoder",
    "__remote_log_metadata-0": "--remote-log-metadata-decoder",
    "__consumer_offsets-0": "--offsets-decoder",
    "__transaction_state-0": "--transaction-log-decoder",
    "__share_group_state-0": "--share-group-state-decoder",
    "user-0": "--print-data-log",
}
NODES = "/image/topics/byName/* /image/configs/*/* /image/cluster/*/* /image/acls/byId/*"
SCRIPT = f"""\
alias '{NAME[:8]}'=ls
alias x='ls {NAME[:8]}'
alias
cd /image/topics/byName/b*
ls
pwd
at @5
next 40
prev
at
diff @0 @now
history
set pager {NAME[:8]}
help {NAME[:8]}
man {NAME[:8]}
{NAME[:8]}
log --where "value.name = '{NAME[:8]}'"
"""
OF_FIELDS: dict[str, tuple[str | bytes, ...]] = {
    **{
        f"{name} as {form}": (KRAFTOPS, "dump-log", decoder, *words, "--files", name)
        for name, decoder in DECODERS.items()
        for form, words in FORMS.items()
    },
    **{f"summary of {name}": (DUMP_LOG, "--summary", "--files", f"{name}/") for name in DECODERS},
    "kip-631": (KRAFTOPS, "dump-log", "--dialect", "kip-631", "--files", EVERY),
    "check of all": (DUMP_LOG, "--check", *DECODERS),
    "report of all": (KRAFTOPS, "report", *DECODERS, "--format", "json"),
    **{
        f"every {words}": (*OF_EVERY, *words.split())
        for words in (
            *("find /", "tree /", "ls -l /image/topics/byName", "summary", "verify", "log"),
            *(
                "log --format csv",
                "log --format json",
                "diff @0 @now",
                "diff @0 @now --format json",
                "at @150",
            ),
            *(f"{one} {NODES}" for one in ("cat", "stat", "ls -l", "blame")),
            "history-of /image",
            *("history-of /image --format json", "blame /image/acls/byId/* --format json"),
            *("grep -i forged /", "export /image", "skew", "what-if --lose 1"),
            *TABLES,
            *(f"{view} --format json" for view in TABLES),
        )
    },
    "every of Kafka's": (METADATA_SHELL, "-s", EVERY, "tree", "/"),
    LINES_OF_VALUES: (METADATA_SHELL, "-s", EVERY, "cat", *NODES.split()),
    "lines": (*OURS[:2], "--no-history", *OURS[2:], "<", "script"),
    "lines of Kafka's": (*KAFKAS, "<", "script"),
}


@pytest.fixture(scope="module")
def shown(place: Path) -> dict[str, str]:
    """What each command writes to a terminal."""
    return on_terminals(COMMANDS | OF_FIELDS, cwd=place)


@pytest.mark.parametrize("command", [*COMMANDS, *OF_FIELDS])
def test_terminal_obeys_no_name(shown: dict[str, str], command: str) -> None:
    has_lines = command == LINES_OF_VALUES
    check_shown(shown[command].replace("\nFORGED", "FORGED") if has_lines else shown[command])


SHOWN = {"dump metadata", "kafka ls", "kafka find", "ls", "find", "tree", "info", "check"}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_names_are_shown_with_escapes(shown: dict[str, str], name: str) -> None:
    assert re.search(r"title(\\x07|\\u0007)", shown[name].replace("\n", ""))


def test_escapes_are_kept_on_demand_and_in_pipes(place: Path) -> None:
    command = COMMANDS["kafka ls"]
    names = f"{NAME}\n{OTHER}\n"
    piped = subprocess.run(command, cwd=place, capture_output=True, env=ENVIRONMENT, check=True)
    kept = on_terminal(METADATA_SHELL, "--no-escape", *command[1:], cwd=place)

    assert piped.stdout.decode() == names
    assert {*kept.split()} == {*names.split()}


def test_dump_of_user_records_is_escaped(place: Path) -> None:
    command = (DUMP_LOG, "--print-data-log", "--files", SEGMENT)
    piped = subprocess.run(command, cwd=place, capture_output=True, env=ENVIRONMENT, check=False)
    shown = on_terminal(*command, cwd=place)
    kept = on_terminal(*command, "--no-escape", cwd=place)

    assert NAME.encode() in piped.stdout
    assert FORBIDDEN.findall(shown) == []
    assert "\\nFORGED" in shown
    assert "payload: a\\x1b]0;title\\x07\\x1b[5m\\x9b2J\\u202e" in shown
    assert NAME in kept


def test_prompts_are_escaped(place: Path) -> None:
    """The editor itself has escape sequences; those of the name are not among them."""
    with Screen(
        KRAFTOPS,
        "metadata-shell",
        "--no-history",
        "-s",
        str(place / LOG),
        environment={"PAGER": "cat"},
        columns=200,
    ) as screen:
        screen.run("cd /image/topics/byName/b*\r")
        screen.run("ls\r")
        raw = screen.raw

    assert "byName/ba\\x1b]0;title\\x07" in raw.replace("\r\n", "")
    assert not {"\x9b", "\u202e", "\u200b", "\x07"} & {*raw}
    assert "\x1b]0;" not in raw
