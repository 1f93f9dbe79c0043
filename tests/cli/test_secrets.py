"""Marked secrets go through every command, and come out of none but on demand."""

import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops.storage.config.keys import server_keys
from tests.helpers.logs.marked_secrets import MARK, PUBLIC, leaks, secret, write_marked_log
from tests.helpers.nodes.node_directories import CLUSTER_ID, make_node
from tests.helpers.tools.console import CLUSTER, DUMP_LOG, KRAFTOPS, STORAGE, Done, run_here
from tests.helpers.tools.hostile import on_terminal
from tests.helpers.tools.terminal_program import Screen

LOG = "__cluster_metadata-0"
METADATA = "--cluster-metadata-decoder"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a metadata log of secrets, which change, and the configuration of a node."""
    folder = tmp_path_factory.mktemp("secrets")
    write_marked_log(folder)
    make_node(folder / "node", ssl_key_password=secret(80))
    path = folder / "node/server.properties"
    passwords = [name for name, key in server_keys().items() if key.type == "password"]
    given = [*passwords, "my.custom.token", "listener.name.a.plain.sasl.jaas.config"]
    with path.open("a") as file:
        file.writelines(f"{name}={secret(81)}\n" for name in given)
    client = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n{0}\nmy.own.token=canary-\n"
    jaas = f'sasl.jaas.config=o.a.PlainLoginModule required username="u" password="{secret(82)}";'
    (folder / "client.properties").write_text(client.format(jaas))
    (folder / "bad.properties").write_text(client.format(jaas.replace("PlainLogin", "Odd")))
    (folder / "worse.properties").write_text(client.format(jaas.replace('";', "")))
    return folder


ROWS = (METADATA, "--files", LOG)
SHELL = ("metadata-shell", "-s", LOG)
PATHS = ("/image/configs", "/image/scram")
DUMPS: dict[str, tuple[str, ...]] = {
    **{f"dump as {form}": (*ROWS, "--format", form) for form in ("json", "csv")},
    "safe dump": (*ROWS, "--format", "csv", "--csv-safe"),
    "dump to a file": (*ROWS, "--format", "parquet", "--output", "out/rows.parquet"),
    "checked dump": (*ROWS, "--format", "json", "--check"),
    "summary": (*ROWS, "--summary"),
    "summary as json": (*ROWS, "--summary", "--format", "json"),
    "check": ("--check", LOG),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "page": ("report", LOG, "--output", "out/report.html"),
    "data of the page": ("report", LOG, "--format", "json"),
    **{
        " ".join(words): (*SHELL, *words)
        for words in (
            *(("cat", f"{path}/*/*") for path in PATHS),
            *((words, *PATHS) for words in ("ls", "find", "tree")),
            ("ls", "-l", "/image/configs/BROKER:1"),
            *(("export", path) for path in PATHS),
            ("export", "/image", "--format", "ndjson"),
            ("grep", MARK, "/image"),
            ("grep", "redacted", "/image"),
            ("stat", "/image/configs/BROKER:1/my.custom.api.token"),
            *(
                (words, "/image/configs/BROKER:1/my.custom.api.token", *more)
                for words in ("history-of", "blame")
                for more in ((), ("--format", "json"))
            ),
            ("history-of", "/image/scram/SCRAM-SHA-256/alice"),
            ("blame", "/image/scram/SCRAM-SHA-256/alice"),
            ("diff", "@20", "@90"),
            ("diff", "@20", "@90", "--format", "json"),
            *(
                ("configs", *more)
                for more in (
                    (),
                    ("--format", "json"),
                    ("--format", "csv"),
                    ("--format", "csv", "--csv-safe"),
                )
            ),
            ("configs", "--where", f"value ~ '{MARK}'"),
            *(("log", *more) for more in ((), ("--format", "json"), ("--format", "csv"))),
            ("log", "--where", f"value.value ~ '{MARK}'", "--format", "json"),
            ("summary",),
            ("verify",),
            ("export", "/image", "--output", "out/image.json"),
            ("find", "/image", "-value", MARK),
            ("find", "/image/configs", "-value", "redacted"),
            ("history-of", "/image"),
            ("history-of", "/image", "--format", "json"),
            ("log", "/image/scram/SCRAM-SHA-256/alice", "--format", "json"),
            ("log", "/image/configs", "--format", "csv"),
            ("blame", "/image/configs/*/*"),
            ("stat", "/image/configs/*/*"),
            ("ls", "-l", "/image/scram/SCRAM-SHA-256"),
            ("configs", "--sort", "value", "--columns", "key,value"),
            ("at", "@55"),
            ("prev", "40"),
            ("verify", "--format", "json"),
            *((view, "--format", "json") for view in ("topics", "brokers", "acls", "quotas")),
        )
    },
}
NODE = ("-c", "node/server.properties")
SETTINGS: dict[str, tuple[str, ...]] = {
    "info": (STORAGE, "info", *NODE),
    "info as json": (STORAGE, "info", *NODE, "--format", "json"),
    "verify": (STORAGE, "verify", *NODE),
    "plan": (STORAGE, "format", *NODE, "-t", CLUSTER_ID, "--dry-run"),
    "plan as json": (STORAGE, "format", *NODE, "-t", CLUSTER_ID, "--dry-run", "--format", "json"),
    **{
        f"override {key}": (STORAGE, "info", *NODE, "--override", f"{key}={secret(83)}")
        for key in ("ssl.key.password", "listener.name.a.my.token", "my.token")
    },
    "wrong value": (STORAGE, "info", *NODE, "--override", "num.partitions=x"),
    **{
        f"scram {number}": (STORAGE, "format", *NODE, "-t", CLUSTER_ID, "--dry-run", "-S", text)
        for number, text in enumerate(
            (
                f"SCRAM-SHA-256=[name=alice,password={secret(84)}]",
                f"SCRAM-SHA-256=[name=alice,password={secret(84)},iterations=1]",
                f"SCRAM-SHA-256=[name=alice,passwort={secret(84)}]",
                f"SCRAM-SHA-256=[name=alice,password=a,{secret(84)}]",
                f"SCRAM-SHA-256=[name=alice,saltedpassword={secret(84)}]",
            )
        )
    },
    "argument that is not known": (STORAGE, "info", *NODE, f"--password={secret(85)}"),
    "arguments that are not known": (STORAGE, "info", *NODE, "--the-token", secret(85)),
    "credential that is not an option": (
        *(STORAGE, "format", *NODE, "-t", CLUSTER_ID, "--dry-run"),
        f"SCRAM-SHA-256=[name=alice,password={secret(85)}]",
    ),
    "URI of another kind": (KRAFTOPS, "dump-log", "--check", f"https://u:{secret(86)}@h/x"),
    "URI as JSON": (
        *(KRAFTOPS, "dump-log", "--check", f"https://u:{secret(86)}@h/x", "--format", "json"),
    ),
    "master of another kind": (
        *(DUMP_LOG, "--spark", "--master", f"odd://u:{secret(87)}@h:1", "--files", LOG),
    ),
    "new identity": (STORAGE, "rewrite", *NODE, "--node-id", "9", "--dry-run"),
    "recovery": (STORAGE, "recover", *NODE, "--from", LOG, "--voters", "1@h:1"),
    **{
        f"login {name}": (CLUSTER, "describe", "-b", "127.0.0.1:1", "--timeout", "0.2", *file)
        for name in ("client", "bad", "worse")
        for file in (("--command-config", f"{name}.properties"),)
    },
}


def came_out(done: Done, folder: Path) -> bytes:
    """Return what a command has written, with the files in the folder of outputs."""
    files = [path.read_bytes() for path in sorted((folder / "out").glob("*"))]
    return b"\n".join([done.out, done.err.encode("utf-8", "surrogateescape"), *files])


@pytest.fixture
def folder(place: Path) -> Iterator[Path]:
    """The folder, with an empty one for outputs."""
    out = place / "out"
    out.mkdir()
    yield place
    for path in out.iterdir():
        path.unlink()
    out.rmdir()


@pytest.mark.parametrize("name", DUMPS)
def test_dump_shows_no_secret(folder: Path, name: str) -> None:
    found = came_out(run_here(*DUMPS[name], cwd=folder), folder)

    assert leaks(found) == []
    assert found.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_command_shows_no_secret(folder: Path, name: str) -> None:
    done = run_here(*COMMANDS[name], program=KRAFTOPS, cwd=folder)

    assert leaks(came_out(done, folder)) == []
    assert done.code in (0, 2) or f"grep {MARK}" in name


LINES = f"""\
set pager off
at @20
next 60
cat /image/configs/*/*
grep {MARK} /image
history-of /image/configs
configs --where "value ~ '{MARK}'"
nonsense
"""


def test_session_shows_no_secret_and_keeps_its_lines_for_its_owner(place: Path) -> None:
    """Of what is typed, only the user's own words are in the history."""
    home = place / "home"
    home.mkdir()
    with Screen(
        *(KRAFTOPS, *SHELL), environment={"HOME": str(home), "PAGER": "cat"}, folder=str(place)
    ) as screen:
        for line in LINES.splitlines():
            screen.run(f"{line}\r")
        screen.run("cat /image/configs/BROKER:1/my\t\r")
        shown = screen.text
        screen.send("\x04")
        screen.wait_for_end()

    (history,) = [path for path in home.rglob("*") if path.name == "metadata-shell-history"]
    typed = [line for line in LINES.splitlines() if MARK in line]
    assert [line for line in history.read_text().splitlines() if MARK in line] == typed
    assert history.stat().st_mode & 0o777 == 0o600
    assert history.parent.stat().st_mode & 0o777 == 0o700
    assert leaks(shown.encode()) == []
    assert "redacted" in shown


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_show_no_secret(folder: Path, name: str) -> None:
    program, *words = SETTINGS[name]
    found = came_out(run_here(*words, program=program, cwd=folder), folder)

    assert leaks(found) == []
    assert found.strip()


def test_secrets_come_out_on_demand(folder: Path) -> None:
    """So that the tests above can fail."""
    for words in (DUMPS["dump as json"], DUMPS["dump as csv"]):
        shown = run_here(*words, "--show-secrets", cwd=folder).out
        assert set(re.findall(rb"canary-(\d\d)-7f3a", shown)) >= {b"00", b"09", b"40", b"49"}
        assert leaks(b64encode(b"x" + secret(1).encode()))
        assert b64encode(f"{secret(70)}-0".encode()) in shown
    for words in (
        ("configs", "--format", "json"),
        ("cat", "/image/configs/*/*"),
        ("export", "/image"),
    ):
        ours = (*SHELL[:1], "--show-secrets", *SHELL[1:], *words)
        shown = run_here(*ours, program=KRAFTOPS, cwd=folder).out
        assert set(re.findall(rb"canary-(\d\d)-7f3a", shown)) >= {b"40", b"49"}
    exported = (*SHELL[:1], "--show-secrets", *SHELL[1:], "export", "/image", "--output", "out/x")
    run_here(*exported, program=KRAFTOPS, cwd=folder)
    assert (folder / "out/x").stat().st_mode & 0o777 == 0o600


def test_public_values_are_shown(folder: Path) -> None:
    for words in (
        ("configs",),
        ("cat", "/image/configs/BROKER:1/log.dirs"),
        ("log", "--format", "json"),
    ):
        assert PUBLIC in run_here(*SHELL, *words, program=KRAFTOPS, cwd=folder).text
    assert PUBLIC in run_here(*DUMPS["dump as json"], cwd=folder).text


def test_changed_secrets_are_changes(folder: Path) -> None:
    found = run_here(*SHELL, "diff", "@20", "@90", program=KRAFTOPS, cwd=folder).text
    path = "/image/configs/BROKER:1/my.custom.api.token"
    last = run_here(*SHELL, "blame", path, program=KRAFTOPS, cwd=folder).text

    assert f'~ {path}  "<redacted>" → "<redacted>"' in found
    assert "BROKER:1/log.dirs  " not in found
    assert last.startswith("53  ")


def test_conditions_tell_nothing_of_secrets(folder: Path) -> None:
    for where in (f"value.value ~ '{MARK}'", f"value.value = '{secret(1)}'"):
        done = run_here(*DUMPS["dump as json"], "--where", where, cwd=folder)
        assert done.out == b""


def test_screen_shows_no_secret(folder: Path) -> None:
    shown = on_terminal(DUMP_LOG, *ROWS, "--format", "json", cwd=folder)

    assert leaks(shown.encode("utf-8", "surrogateescape")) == []
    assert "<redacted>" in shown
