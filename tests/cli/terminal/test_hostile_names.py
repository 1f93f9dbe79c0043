"""Names from data on a pseudo-terminal: every command shows escapes and obeys none."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from kraftops.log.batch import Record, batch_bytes
from tests.helpers.logs.metadata_logs import write_log
from tests.helpers.logs.random_logs import LogBatch, new_record, uuid
from tests.helpers.nodes.node_directories import CLUSTER_ID, format_node, make_node
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    ENVIRONMENT,
    KRAFTOPS,
    METADATA_SHELL,
    STORAGE,
)
from tests.helpers.tools.hostile import FORBIDDEN, NAME, check_shown, on_terminal
from tests.helpers.tools.terminal_program import Screen

OTHER = "b" + NAME.partition("\n")[0]
FILE = os.fsencode(NAME) + b"\xff"
shown_once = cache(on_terminal)


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
    write_log(folder, {0: [bytes(LogBatch(0, records))]})
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
VIEWS = ("topics", "partitions", "brokers", "configs", "acls", "quotas", "groups")
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
    "log csv": (*OURS, "log", "--csv"),
    **{f"view {name}": (*OURS, name) for name in VIEWS},
    **{f"view {name} as csv": (*OURS, name, "--csv") for name in ("configs", "acls")},
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


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_terminal_obeys_no_name(place: Path, command: tuple[str | bytes, ...]) -> None:
    check_shown(shown_once(*command, cwd=place))


SHOWN = {"dump metadata", "kafka ls", "kafka find", "ls", "find", "tree", "info", "check"}


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_names_are_shown_with_escapes(place: Path, name: str) -> None:
    shown = shown_once(*COMMANDS[name], cwd=place)

    assert re.search(r"title(\\x07|\\u0007)", shown.replace("\n", ""))


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
