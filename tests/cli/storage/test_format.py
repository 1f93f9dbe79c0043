"""`kafka-storage format` says what it does, warns of what may be meant otherwise, keeps secrets."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftops.storage.bootstrap.releases import by_name
from tests.helpers.nodes.child_processes import running_as
from tests.helpers.nodes.node_directories import (
    CLUSTER_ID,
    DYNAMIC,
    META,
    OTHER_ID,
    PROPERTIES,
    SNAPSHOT,
    STATIC,
    entries,
    format_args,
    format_node,
    formatted,
    locked,
    make_node,
    states,
    storage,
)
from tests.helpers.tools.console import STORAGE, Done, run_command

SECRET = "hunter2"
NOBODY = 65534
USER = f"SCRAM-SHA-256=[name=alice,password={SECRET}]"
BOB = f"SCRAM-SHA-512=[name=bob,password={SECRET}]"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")


@pytest.fixture
def node(tmp_path: Path) -> Path:
    """A node with static voters, two directories, nothing formatted."""
    return make_node(tmp_path / "node")


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can reach."""
    path = Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def warnings(done: Done) -> list[str]:
    start = "kafka-storage: warning: "
    return [line.removeprefix(start) for line in done.errors if line.startswith(start)]


def created(done: Done) -> dict[str, tuple[int, int | None]]:
    """Return path, mode and bytes of what the JSON of a dry run announces."""
    told: dict[str, Any] = json.loads(done.text)
    return {
        os.path.normpath(entry["path"]): (int(entry["mode"], 8), entry["bytes"])
        for directory in told["directories"]
        for entry in directory.get("creates", ())
    }


class TestDryRun:
    CASES = (
        pytest.param(STATIC, "d1,d2", (), id="static"),
        pytest.param(DYNAMIC, "d1,d2", ("-s",), id="standalone"),
        pytest.param(DYNAMIC, "d1,d2", ("-N", "-r", "3.9", "-f", "group.version=1"), id="joining"),
        pytest.param(STATIC, "a/b/c,a/b/d", (), id="below others"),
        pytest.param(DYNAMIC, "d1/,./d2", ("-s",), id="untidy"),
        pytest.param(STATIC, "there/d1,there", (), id="some are there"),
    )

    @pytest.mark.parametrize(("quorum", "log_dirs", "flags"), CASES)
    @pytest.mark.parametrize("umask", [0o22, 0o77])
    def test_it_shows_what_a_format_then_makes(
        self,
        quorum: dict[str, str],
        log_dirs: str,
        flags: tuple[str, ...],
        umask: int,
        tmp_path: Path,
    ) -> None:
        """Every path, its mode and its bytes; and it makes nothing."""
        node = make_node(tmp_path / "node", quorum, log_dirs=log_dirs)
        (node / "there").mkdir()
        before = entries(node)
        former = os.umask(umask)
        try:
            dry = format_node(node, *flags, "--dry-run", "--format", "json")
            after_dry = entries(node)
            real = format_node(node, *flags)
        finally:
            os.umask(former)

        assert (dry.code, dry.err, real.code) == (0, "", 0)
        assert after_dry == before
        assert {**before, **created(dry)} == entries(node)

    def test_text_names_every_file(self, tmp_path: Path) -> None:
        node = make_node(tmp_path / "node", DYNAMIC)

        done = format_node(node, "-s", "-n")

        _, *lines = done.text.splitlines()
        assert lines == [
            "Would format dynamic metadata voter directory d1 with metadata.version 4.3-IV0.",
            "  d1/ mode 0755",
            "  d1/__cluster_metadata-0/ mode 0755",
            "  d1/.lock (0 bytes) mode 0644",
            "  d1/bootstrap.checkpoint (411 bytes) mode 0644",
            f"  d1/{SNAPSHOT} (241 bytes) mode 0400",
            "  d1/meta.properties (122 bytes) mode 0644",
            "Would format data directory d2 with metadata.version 4.3-IV0.",
            "  d2/ mode 0755",
            "  d2/.lock (0 bytes) mode 0644",
            "  d2/bootstrap.checkpoint (411 bytes) mode 0644",
            "  d2/meta.properties (122 bytes) mode 0644",
        ]

    @pytest.mark.parametrize("log_dirs", ["d1/", "new/d1,new/d2"])
    def test_nothing_is_named_twice(self, log_dirs: str, tmp_path: Path) -> None:
        node = make_node(tmp_path / "node", log_dirs=log_dirs)

        done = format_node(node, "-n")

        entries = [line for line in done.text.splitlines() if line.startswith("  ")]
        names = [os.path.normpath(line.split()[0]) for line in entries]
        assert len(names) == len(set(names))

    @pytest.mark.parametrize(
        ("break_node", "message"),
        [
            (lambda node: (node / "d2").touch(), None),
            (lambda node: (node / "d1").touch(), "cannot read the metadata directory"),
            (lambda node: (node / "d2").symlink_to("nothing"), "cannot write to data directory d2"),
            (
                lambda node: [(node / "d2/t-0").mkdir(parents=True), (node / "d2/t-0/x").touch()],
                "d2 is not formatted, but holds data: t-0",
            ),
        ],
        ids=["data file", "metadata file", "dangling", "partitions"],
    )
    def test_it_checks_what_a_format_checks(
        self, break_node: Any, message: str | None, node: Path
    ) -> None:
        break_node(node)
        before = entries(node)

        dry, real = format_node(node, "-n"), None
        assert entries(node) == before
        real = format_node(node)

        assert dry.code == real.code == (0 if message is None else 1)
        assert dry.err == real.err
        if message:
            assert message in dry.err


class TestJson:
    def test_it_says_what_was_changed(self, tmp_path: Path) -> None:
        node = make_node(tmp_path / "node", DYNAMIC)

        first = format_node(node, "-s", "-S", USER, "--format", "json")
        again = format_node(node, "-s", "-g", "--format", "json")
        told, told_again = json.loads(first.text), json.loads(again.text)

        ids = [state.meta and state.meta.directory_id for state in states(node).values()]
        assert (first.code, first.err, again.code) == (0, "", 0)
        assert (told["command"], told["formatVersion"], told["dryRun"]) == ("format", 2, False)
        assert (told["changed"], told_again["changed"]) == (True, False)
        assert (told["clusterId"], told["nodeId"]) == (CLUSTER_ID, 1)
        assert [one["path"] for one in told["directories"]] == ["d1", "d2"]
        assert [one["action"] for one in told["directories"]] == ["formatted", "formatted"]
        assert [one["action"] for one in told_again["directories"]] == ["keep", "keep"]
        assert [one["directoryId"] for one in told["directories"]] == [
            one["directoryId"] for one in told_again["directories"]
        ]
        assert len(set(ids)) == 2
        assert first.text.count("\n") == 1
        assert SECRET not in first.text

    def test_it_says_what_is_passed_over(self, node: Path) -> None:
        (node / "d2").touch()

        done = format_node(node, "--format", "json")

        told = json.loads(done.text)["directories"]
        assert done.code == 0
        assert [one["action"] for one in told] == ["formatted", "ignore"]
        assert told[1]["problem"] == "Not a directory"

    def test_refusal_is_json_too(self, node: Path) -> None:
        format_node(node)

        done = format_node(node, "--format", "json")

        assert (done.code, json.loads(done.text)["error"]) == (1, "not-done")
        assert "is already formatted" in done.errors[0]


class TestClusterId:
    @pytest.mark.parametrize(
        ("cluster_id", "hint"),
        [
            ("MkU3OEVBNTcwNTJENDM2Qk", f"hint: {CLUSTER_ID} is the canonical text of the same 16 "),
            (f"{CLUSTER_ID}==", f"hint: {CLUSTER_ID} is the canonical text of the same 16 bytes"),
            ("my cluster", "hint: kafka-storage random-uuid makes one"),
            ("4e8e9a4a-1d5c-4d5e-9d5a-0d5e5f1a2b3c", "hint: kafka-storage random-uuid makes one"),
            ("köln-東", "hint: kafka-storage random-uuid makes one"),
        ],
    )
    def test_one_that_is_no_canonical_uuid_is_warned_of(
        self, cluster_id: str, hint: str, node: Path
    ) -> None:
        strict = format_node(node, "--strict", cluster_id=cluster_id)
        before = entries(node)
        done = format_node(node, cluster_id=cluster_id)

        assert before == {PROPERTIES: before[PROPERTIES]}
        assert strict.code == 1
        assert (
            strict.errors[0]
            == f"kafka-storage: the cluster id {cluster_id!r} is not a canonical UUID"
        )
        assert done.code == 0
        assert warnings(done) == [f"the cluster id {cluster_id!r} is not a canonical UUID"]
        assert done.errors[1].startswith(hint)
        assert formatted(node, cluster_id=cluster_id) == ["d1", "d2"]

    def test_canonical_one_is_not(self, node: Path) -> None:
        done = format_node(node, "--strict")

        assert (done.code, done.err) == (0, "")

    @pytest.mark.parametrize("strict", [(), ("--strict",)])
    def test_empty_one_is_refused(self, strict: tuple[str, ...], node: Path) -> None:
        done = format_node(node, *strict, cluster_id="")

        assert (done.code, done.out) == (1, b"")
        assert done.errors[0] == "kafka-storage: the cluster id is empty"
        assert not (node / "d1").exists()

    @pytest.mark.parametrize("form", ["blank", "joined", "equals", "long"])
    def test_leading_dash_is_no_option(self, form: str, node: Path) -> None:
        """Kafka's tool made such ids until 3.2 (KAFKA-13741)."""
        cluster_id = "-Yh6fJBLQ1u-dFMdDMxLXQ"
        given = {
            "blank": ["-t", cluster_id],
            "joined": [f"-t{cluster_id}"],
            "equals": [f"-t={cluster_id}"],
            "long": ["--cluster-id", cluster_id],
        }[form]

        done = storage(node, "format", *given, "-c", PROPERTIES)

        assert (done.code, done.err) == (0, "")
        assert formatted(node, cluster_id=cluster_id) == ["d1", "d2"]


class TestSecrets:
    def test_users_come_from_files_and_standard_input(self, node: Path) -> None:
        """One argument a line; blank lines do not count."""
        (node / "users").write_text(f"{USER}\n\n  {BOB}  \n")

        done = format_node(
            node,
            "--add-scram-file",
            "users",
            "--add-scram-file=-",
            "-S",
            "SCRAM-SHA-256=[name=first,password=x]",
            stdin="SCRAM-SHA-256=[name=zoë,password=y]\r\n",
        )

        bootstrap = states(node)["d1"].bootstrap
        assert (done.code, done.err) == (0, "")
        assert bootstrap
        assert bootstrap.scram_users == ("first", "alice", "bob", "zoë")

    @pytest.mark.parametrize("form", [(), ("--format", "json"), ("--dry-run",)])
    def test_none_is_printed(self, form: tuple[str, ...], node: Path) -> None:
        salt = "c2FsdHNhbHQ="
        argument = f"SCRAM-SHA-256=[name=alice,salt={salt},password={SECRET}]"

        done = format_node(node, "-S", argument, *form)

        assert done.code == 0
        assert "alice" in done.text
        for secret in (SECRET, salt, "[115, 97, 108, 116"):
            assert secret not in done.text + done.err

    @pytest.mark.parametrize("line", [f"{USER}x", f"name=alice,password={SECRET}", SECRET])
    def test_line_that_is_refused_is_not_printed(self, line: str, node: Path) -> None:
        done = format_node(node, "--add-scram-file", "-", stdin=f"{line}\n")

        assert (done.code, done.out) == (1, b"")
        assert SECRET not in done.err
        assert not (node / "d1").exists()

    @pytest.mark.parametrize(
        ("name", "content", "reason"),
        [
            ("missing", None, "cannot read missing: No such file or directory"),
            ("binary", b"\xff\xfe", "cannot read binary: it is not UTF-8"),
            (".", None, "cannot read .: Is a directory"),
        ],
    )
    def test_file_that_cannot_be_read_is_refused(
        self, name: str, content: bytes | None, reason: str, node: Path
    ) -> None:
        if content is not None:
            (node / name).write_bytes(content)

        done = format_node(node, "--add-scram-file", name)

        assert (done.code, done.errors[0]) == (1, f"kafka-storage: {reason}")

    def test_password_of_standard_input_is_nowhere_else(self, node: Path) -> None:
        """As a program of its own: not in its arguments, and nothing is left open."""
        done = run_command(
            *format_args("--add-scram-file", "-"),
            cwd=node,
            program=STORAGE,
            stdin=f"{USER}\n".encode(),
        )

        assert done.code == 0
        assert SECRET not in done.text + done.err
        for path in node.rglob("*"):
            assert not path.is_file() or SECRET.encode() not in path.read_bytes()


class TestWarnings:
    def test_flags_without_effect_are_named(self, node: Path) -> None:
        format_node(node)

        done = format_node(node, "-g", "-r", "3.9", "-f", "group.version=1", "-S", USER)

        assert done.code == 0
        assert warnings(done) == [
            f"{flag} has no effect: d1 is formatted already"
            for flag in ("--release-version", "--feature", "--add-scram, --add-scram-file")
        ]

    def test_version_0_is_named(self, node: Path) -> None:
        (node / "d1").mkdir()
        (node / "d1" / META).write_text("broker.id=1\n")

        done = format_node(node, "-g")

        assert done.code == 0
        assert warnings(done) == ["d1/meta.properties is of version 0, which is left as it is"]
        assert "rewrite --to-v1" in done.err
        assert (node / "d1" / META).read_text() == "broker.id=1\n"

    def test_what_is_passed_over_is_named(self, node: Path) -> None:
        (node / "d2").mkdir()
        (node / "d2" / META).write_text("version=3\n")

        done = format_node(node)
        strict = format_node(node, "-g", "--strict")

        assert done.code == 0
        assert done.text.startswith(
            "I/O error trying to read log directory d2. Ignoring...\nBootstrap metadata: "
        )
        assert warnings(done) == [
            "passed over d2/meta.properties: Unknown meta.properties version number 3"
        ]
        assert strict.code == 1
        assert "cannot read a log directory: d2/meta.properties: " in strict.err

    def test_voter_that_nobody_else_reaches_is_named(self, tmp_path: Path) -> None:
        node = make_node(
            tmp_path / "node", DYNAMIC, listeners="PLAINTEXT://:29092,CONTROLLER://:29093"
        )

        done = format_node(node, "-s")

        assert done.code == 0
        assert warnings(done) == ["the voter's host is localhost: no other node can reach it there"]

    def test_nothing_is_warned_of_where_all_is_well(self, node: Path) -> None:
        done = format_node(node)

        assert (done.code, done.err) == (0, "")
        assert done.text.splitlines()[1:] == [
            "Formatting metadata directory d1 with metadata.version 4.3-IV0.",
            "Formatting data directory d2 with metadata.version 4.3-IV0.",
        ]


class TestRefusal:
    @pytest.mark.parametrize(
        ("args", "message"),
        [
            (["-c", "missing"], "cannot read missing: No such file or directory"),
            (["-c", "."], "cannot read .: Is a directory"),
            (["-r", "9.9"], "Unknown metadata.version '9.9'. Supported metadata.version are: 3.3"),
            (["-f", "x=1"], "Unsupported feature: x. Supported features are: "),
            (["-f", "group.version=7"], "No feature:group.version with feature level 7"),
            (["-I", "1@a"], "You cannot specify controller.quorum.voters and format the node "),
            (["--override", "process.roles="], "--override process.roles=: Configuration "),
            (["--override", "log.dirs=d1,,d2"], "--override log.dirs=d1,,d2: Configuration "),
            (
                ["--override", "metadata.log.dir="],
                "--override metadata.log.dir=: metadata.log.dir ",
            ),
            (
                ["--override", "controller.quorum.voters=x"],
                "--override controller.quorum.voters=x:",
            ),
        ],
    )
    def test_bad_request_is_one_line_and_writes_nothing(
        self, args: list[str], message: str, node: Path
    ) -> None:
        before = entries(node)

        done = format_node(node, *args)

        assert (done.code, done.out) == (1, b"")
        assert done.errors[0].startswith(f"kafka-storage: {message}")
        assert all(line.startswith("hint: ") for line in done.errors[1:])
        assert len(done.errors) <= 2
        assert entries(node) == before

    def test_partitions_are_formatted_over_only_by_force(self, node: Path) -> None:
        (node / "d2/t-0").mkdir(parents=True)
        (node / "d2/t-0/00000000000000000000.log").write_bytes(b"data")

        refused = format_node(node)
        forced = format_node(node, "--force")

        assert (refused.code, forced.code) == (1, 0)
        assert "--force" in refused.errors[1]
        assert formatted(node) == ["d1", "d2"]

    def test_directory_in_use_is_refused_with_the_process(self, node: Path) -> None:
        (node / "d2").mkdir()
        with locked(node / "d2") as pid:
            done = format_node(node)

        assert (done.code, done.out) == (3, b"")
        assert done.errors[0].startswith(f"kafka-storage: d2 is in use: process {pid} (")
        assert not (node / "d1").exists()


@needs_root
class TestPermission:
    """As a user without rights."""

    @pytest.mark.parametrize(
        ("log_dirs", "modes", "message"),
        [
            pytest.param("d1,d2", {"d2": 0o555}, "cannot write to data directory d2: ", id="dir"),
            pytest.param("d1,d2", {"d2": 0o666}, None, id="not to be entered"),
            pytest.param("d1,d2/x", {"d2": 0o555}, "cannot make data directory d2/x: ", id="above"),
            pytest.param("d2", {"d2": 0o555}, "cannot write to metadata directory d2: ", id="meta"),
            pytest.param("d2,d1", {"d2": 0}, "cannot read the metadata directory: ", id="closed"),
            pytest.param("d2", {"d2": 0o333}, "cannot read d2: Permission denied", id="not listed"),
        ],
    )
    def test_directory_that_cannot_be_written_is_refused_before_others_are(
        self, log_dirs: str, modes: dict[str, int], message: str | None, public: Path
    ) -> None:
        node = make_node(public / "node", log_dirs=log_dirs)
        node.chmod(0o777)
        for name, mode in modes.items():
            (node / name).mkdir()
            os.chown(node / name, NOBODY, NOBODY)
            (node / name).chmod(mode)

        child = running_as(NOBODY, node, public / "run", format_args())

        if message is None:
            assert (child.code, child.errors) == (0, [])
            assert "warning: passed over d2/meta.properties: Permission denied" in child.err
            return
        assert child.code == 1
        assert child.errors == [line for line in child.errors if message in line]
        assert len(child.errors) == 1
        assert not (node / "d1").exists()

    def test_reason_names_mode_owner_and_user(self, public: Path) -> None:
        node = make_node(public / "node", log_dirs="d1")
        (node / "d1").mkdir(mode=0o755)

        child = running_as(NOBODY, node, public / "run", format_args())

        assert child.code == 1
        (error,) = child.errors
        assert error == (
            "kafka-storage: cannot write to metadata directory d1: no permission in "
            f"{node / 'd1'} (mode 0755, owner 0, group 0) for user 65534, or its file system "
            "is read-only"
        )

    def test_user_formats_what_it_may_and_owns_it(self, public: Path) -> None:
        node = make_node(public / "node", DYNAMIC)
        node.chmod(0o777)

        child = running_as(NOBODY, node, public / "run", format_args("-s"))

        assert (child.code, child.err) == (0, "")
        assert formatted(node, is_dynamic=True) == ["d1", "d2"]
        assert {path.stat().st_uid for path in node.rglob("d*/**/*")} == {NOBODY}

    def test_lock_that_cannot_be_opened_is_refused(self, public: Path) -> None:
        node = make_node(public / "node")
        node.chmod(0o777)
        (node / "d2").mkdir()
        (node / "d2").chmod(0o777)
        (node / "d2/.lock").touch(mode=0o600)

        child = running_as(NOBODY, node, public / "run", format_args())

        assert child.code == 1
        assert child.errors == ["kafka-storage: cannot read the lock d2/.lock: Permission denied"]
        assert not (node / "d1").exists()


def test_same_command_of_kraftops_does_the_same(node: Path) -> None:
    program = str(Path(STORAGE).with_name("kraftops"))

    done = run_command("storage", *format_args("-r", "3.9"), cwd=node, program=program)

    assert (done.code, done.err) == (0, "")
    bootstrap = states(node)["d1"].bootstrap
    assert bootstrap
    assert bootstrap.features == {"metadata.version": by_name("3.9").level}
    assert OTHER_ID not in done.text


class TestUsedMetadataLog:
    """A metadata log that a server has written, but whose meta.properties was lost."""

    @pytest.fixture
    def used(self, tmp_path: Path) -> Path:
        node = make_node(tmp_path / "node", DYNAMIC)
        format_node(node, "-s")
        (node / "d1" / "__cluster_metadata-0" / "quorum-state").write_text("{}")
        return node

    @pytest.mark.parametrize("choice", ["-N", "-s"])
    def test_its_voters_and_its_directory_id_are_kept(self, used: Path, choice: str) -> None:
        snapshot = used / "d1" / SNAPSHOT
        before = snapshot.read_bytes()
        lines = (used / "d1" / META).read_text().splitlines()
        (used / "d1" / META).unlink()

        refused = format_node(used, choice, "-g")
        done = format_node(used, choice, "-g", "--force")

        assert (refused.code, done.code) == (1, 0)
        assert snapshot.read_bytes() == before
        identity = next(line for line in lines if line.startswith("directory.id"))
        assert identity in (used / "d1" / META).read_text().splitlines()

    def test_stale_voters_are_named_before_they_are_removed(self, tmp_path: Path) -> None:
        node = make_node(tmp_path / "node", DYNAMIC)
        format_node(node, "-s")
        (node / "d1" / META).unlink()

        planned = format_node(node, "-N", "-g", "-n")
        format_node(node, "-N", "-g")

        place = f"d1/{SNAPSHOT}"
        assert f"  removes {place}" in planned.text.splitlines()
        assert not (node / place).exists()


@pytest.mark.parametrize("name", ["nul\\u0000x", "\\ud800x"])
@pytest.mark.parametrize("command", ["format", "info", "verify", "rewrite"])
def test_name_that_no_file_can_have_is_no_traceback(
    command: str, name: str, tmp_path: Path
) -> None:
    node = make_node(tmp_path / "node", log_dirs="")
    with (node / PROPERTIES).open("a") as file:
        file.write(f"log.dirs={name}\n")
    more = {"format": ["-t", CLUSTER_ID], "rewrite": ["--node-id", "3"]}.get(command, [])

    done = storage(node, command, "-c", PROPERTIES, *more)

    assert done.code in (1, 2)
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("\ufeffSCRAM-SHA-256=[name=a,password=b]\r\n", ["a"]),
        ("SCRAM-SHA-256=[name=a,password=b\u2028c]\nSCRAM-SHA-512=[name=d,password=e]", ["a", "d"]),
    ],
    ids=["byte order mark", "line separator"],
)
def test_scram_files_are_read_line_by_line(text: str, users: list[str], tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    (node / "users").write_bytes(text.encode())

    done = format_node(node, "--add-scram-file", "users", "--format", "json")

    assert json.loads(done.text)["bootstrap"]["scramUsers"] == users


def test_scram_file_without_users_is_refused(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    (node / "users").touch()

    done = format_node(node, "--add-scram-file", "users")

    assert done.code == 1
    assert done.errors[0] == "kafka-storage: users names no SCRAM user"
