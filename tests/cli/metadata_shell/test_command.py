"""Options, pipes and files of the metadata shell."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import METADATA_SHELL, run_command, run_here
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tools.our_shell import DIRECTORY, KRAFTOPS, SNAPSHOT, ours
from tests.helpers.tools.terminal_program import Screen

# Arguments


def test_source_is_required() -> None:
    for program in ((METADATA_SHELL,), (KRAFTOPS, "metadata-shell")):
        done = run_command(*program[1:], "ls", program=program[0])

        assert done.code == 1
        assert done.out == b""
        assert "argument --snapshot/-s is required" in done.err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("-s",), "argument --snapshot/-s: expected one argument"),
        (("-s", "x", "ls", "-l"), "unrecognized arguments: '-l'"),
        (("-s", "x", "-c", "y", "ls"), "not allowed with argument --snapshot/-s"),
        (("-s", "x", "--at-offset", "1", "--at-time", "2h"), "not allowed with argument"),
        (("--bogus",), "unrecognized arguments: '--bogus'"),
        (("-C", "", "ls"), "no address is given"),
        (("-s", "", "ls"), "argument --snapshot/-s: '' is not a file"),
        (("-c", "", "ls"), "No such file or directory"),
        (("-s", "x", "--timeout", "3", "ls"), "--timeout needs --controllers"),
        (("-c", "x", "--command-config", "y", "ls"), "--command-config needs --controllers"),
        (("-s", "x", "--expect-cluster-id", "y"), "--expect-cluster-id needs --controllers"),
        (("-C", "x:1", "--spark", "find"), "argument --spark: not allowed with argument --contr"),
    ],
)
def test_bad_arguments_are_refused(arguments: tuple[str, ...], reason: str) -> None:
    done = run_here(*arguments, program=METADATA_SHELL)

    assert done.code == 1
    assert done.out == b""
    assert reason in done.errors[0]


@pytest.mark.parametrize("words", [("ls", "-s", "{}"), ("--snap", "{}", "ls"), ("-s{}", "ls")])
def test_options_stand_anywhere(words: tuple[str, ...]) -> None:
    done = run_here(*(word.format(SNAPSHOT) for word in words), program=METADATA_SHELL)

    assert (done.code, done.text) == (0, "image\nlocal\n")


def test_missing_source_is_one_line() -> None:
    """Before anything is printed, also where lines would be read."""
    for arguments in (("ls",), ()):
        done = run_command("-s", "/nowhere", *arguments, program=METADATA_SHELL)

        assert (done.code, done.out) == (1, b"")
        assert done.errors == [
            "kafka-metadata-shell: cannot read /nowhere: No such file or directory"
        ]


def test_options_of_a_command_are_its_own() -> None:
    done = ours("export", "/image/topics/byName/grow/name", "--format", "ndjson")

    assert done.code == 0
    assert json.loads(done.text)["path"] == "/image/topics/byName/grow/name"


def test_configuration_names_the_source(tmp_path: Path) -> None:
    logs = tmp_path / "data"
    shutil.copytree(DIRECTORY, logs)
    config = tmp_path / "server.properties"
    config.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        "listeners=CONTROLLER://localhost:9093\ncontroller.quorum.voters=1@localhost:9093\n"
        f"log.dirs={tmp_path / 'other'}\nmetadata.log.dir={logs}\n"
    )

    done = run_here("--config", str(config), "ls", "/image/topics", program=METADATA_SHELL)

    assert (done.code, done.text) == (0, "byId\nbyName\n")
    assert run_here("-c", str(config), "ls", program=METADATA_SHELL).code == 0


def test_configuration_that_is_refused_says_where(tmp_path: Path) -> None:
    config = tmp_path / "server.properties"
    config.write_text("process.roles=controller\nnode.id=x\n")

    done = run_here("--config", str(config), "ls", program=METADATA_SHELL)

    assert done.code == 1
    assert str(config) in done.err


# Kafka's form, lines from a pipe


def test_last_line_without_its_end_is_ignored_in_kafkas_form() -> None:
    done = run_command("-s", str(SNAPSHOT), program=METADATA_SHELL, stdin=b"pwd\npwd")

    assert done.code == 0
    assert done.text == "Loading...\nStarting...\n[ Kafka Metadata Shell ]\n>> /\n>> "


def test_kafkas_form_keeps_its_exit_code() -> None:
    done = run_command("-s", str(SNAPSHOT), program=METADATA_SHELL, stdin=b"bogus\ncat\n")

    assert done.code == 0


def test_form_is_chosen_by_name_or_option() -> None:
    kafkas = run_command("-s", str(SNAPSHOT), "cat", "/image/provenance", program=METADATA_SHELL)

    assert kafkas.text.startswith("offset 102, ")
    assert ours("--format", "kafka", "cat", "/image/provenance").text == kafkas.text
    assert json.loads(ours("cat", "/image/provenance").text)["offset"] == 412


def test_error_about_a_file_names_it_once(tmp_path: Path) -> None:
    path = tmp_path / "cut.checkpoint"
    path.write_bytes(SNAPSHOT.read_bytes()[:300])

    done = run_command("metadata-shell", "-s", str(path), "ls", "/", program=KRAFTOPS)

    assert done.code == 2
    assert done.err == f"{path}, position 166: 134 bytes at the end are not a whole batch\n"


@pytest.mark.parametrize("program", [[METADATA_SHELL], [KRAFTOPS, "metadata-shell"]])
def test_log_of_another_topic_is_an_error(tmp_path: Path, program: list[str]) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(batch_bytes([Record(0, 0, b"key", b"value"), Record(1, 0, None, b"value")]))

    done = run_command(*program[1:], "-s", str(path), "ls", "/", program=program[0])

    assert (done.code, done.text) == (1, "")
    assert "no record in it can be read as a metadata record" in done.err


# Our form, lines from a pipe


def test_lines_from_a_pipe_get_output_alone() -> None:
    """No prompt, no colour; the last line needs no end."""
    done = ours(stdin="cd image\n\npwd\ncat provenance")

    assert (done.code, done.err) == (0, "")
    assert done.text.splitlines()[0] == "/image"
    assert re.fullmatch(
        r'\{"offset":412,"epoch":1,"timestamp":\d+,"time":"[^"]+"\}', done.text.splitlines()[1]
    )


def test_exit_ends_the_session() -> None:
    assert ours(stdin="pwd\nexit\nls\n").text == "/\n"


def test_failed_command_is_a_line_of_error_and_a_code() -> None:
    done = ours(stdin="cat /nope\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert done.errors == ["standard input:1: cat: /nope: No such file or directory. [not-found]"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("ls 'a", "there is no closing '"),
        ("bogus", "there is no command bogus; help shows the commands"),
        ("ls /image/{a", "ls: /image/{a: no such file or directory."),
        ("ls |", "there is no command after |"),
        ("history x", "argument numEntriesToShow: could not convert 'x' to Integer"),
    ],
)
def test_bad_lines_are_one_line_of_error(line: str, reason: str) -> None:
    done = ours(stdin=f"{line}\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert len(done.errors) == 1
    assert done.errors[0].startswith(f"standard input:1: {reason}")


def test_words_that_a_command_does_not_take_have_its_usage() -> None:
    done = ours(stdin="pwd\nls --srot natural\npwd\n")

    assert (done.code, done.text) == (1, "/\n/\n")
    assert (
        done.errors[0]
        == "standard input:2: there is no option --srot: did you mean --sort? [usage]"
    )
    assert done.errors[1].startswith("usage: ls [-l] ")


def test_findings_of_a_command_win() -> None:
    done = ours(stdin="diff /image/topics/byName/a /image/topics/byName/grow\ncat /nope\n")

    assert done.code == 2


def test_every_printed_path_can_be_typed() -> None:
    """Also those of names with blanks, quotes, wildcards and slashes, in quotes."""
    command = ("metadata-shell", "-s", str(SHELL / "in" / "crafted" / "crafted-all.checkpoint"))
    paths = run_command(*command, "find", "/", program=KRAFTOPS).text.splitlines()
    lines = "".join(f"find -maxdepth 0 {shlex.quote(path)}\n" for path in paths)

    done = run_command(*command, program=KRAFTOPS, stdin=lines.encode())

    assert r"/image/delegationToken/a\/b" in paths
    assert (done.code, done.err) == (0, "")
    assert done.text.splitlines() == paths


# Pipes and files


def test_output_goes_to_a_program() -> None:
    assert ours(stdin="ls /image | tr a-z A-Z | head -2\n").text == "ACLS\nBYBROKER\n"


def test_program_that_fails_fails_the_line() -> None:
    done = ours(stdin="ls | false\npwd\n")

    assert (done.code, done.text, done.err) == (1, "/\n", "")


def test_missing_program_is_one_line() -> None:
    done = ours(stdin="ls | no-such-program\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert len(done.errors) == 1
    assert "no-such-program" in done.errors[0]


def test_killed_program_is_named() -> None:
    done = ours(stdin="ls | kill -9 $$\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert done.errors == ["kill -9 $$: ended by signal 9"]


def test_program_that_closes_its_input_ends_the_command() -> None:
    done = ours(stdin="find / | head -1\npwd\n")

    assert (done.code, done.text, done.err) == (0, "/\n/\n", "")


def test_output_goes_to_a_file(tmp_path: Path) -> None:
    done = ours(stdin="ls / > 'a b'\npwd >> 'a b'\nls > 'a b'\npwd >>'a b'\n", cwd=tmp_path)

    assert (done.code, done.text, done.err) == (0, "", "")
    assert (tmp_path / "a b").read_text() == "image\nlocal\n/\n"


def test_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    done = ours(stdin="ls > /nowhere/x\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert done.errors == [
        "standard input:1: cannot write /nowhere/x: No such file or directory [not-writable]"
    ]


@pytest.mark.parametrize("line", ["ls > /dev/full", "tree / > /dev/full"])
def test_full_disk_is_one_line(line: str) -> None:
    """Whether it is met at the end or on the way."""
    done = ours(stdin=f"{line}\npwd\n")

    assert (done.code, done.text) == (1, "/\n")
    assert done.errors == [
        "standard input:1: cannot write /dev/full: No space left on device [not-writable]"
    ]


def test_kafkas_form_has_no_redirection(tmp_path: Path) -> None:
    done = run_command("-s", str(SNAPSHOT), program=METADATA_SHELL, stdin=b"ls > x\n", cwd=tmp_path)

    assert "ls: >: no such file or directory." in done.text
    assert list(tmp_path.iterdir()) == []


# A source that changes under the session


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return Path(shutil.copy(SNAPSHOT, tmp_path / "s.checkpoint"))


@pytest.mark.parametrize("program", [(METADATA_SHELL,), (KRAFTOPS, "metadata-shell")])
def test_truncated_source_is_one_line_for_each_command(
    source: Path, program: tuple[str, ...]
) -> None:
    with Screen(*program, "-s", str(source), term="dumb") as screen:
        screen.wait_for("> ")
        with source.open("r+b") as file:
            file.truncate(100)

        for _ in range(2):
            screen.clear()
            screen.send("cat /image/cluster/brokers/1\r")
            shown = screen.wait(lambda screen: screen.text.rstrip(" ").endswith(("\n>>", "\n/>")))
            assert f"{source} has changed since it was read" in shown
            assert "Traceback" not in shown
        screen.send("\x04")

        assert screen.wait_for_end() == 0


def test_deleted_source_can_still_be_read(source: Path) -> None:
    with Screen(KRAFTOPS, "metadata-shell", "-s", str(source), term="dumb") as screen:
        screen.wait_for("/> ")
        source.unlink()
        screen.clear()
        screen.send("cat /image/cluster/brokers/1\r")
        screen.wait_for('"brokerId":')


def test_traceback_only_on_request(source: Path) -> None:
    command = (KRAFTOPS, "metadata-shell", "-s", str(source))
    with Screen(*command, term="dumb", environment={"KRAFTOPS_DEBUG": "1"}) as screen:
        screen.wait_for("/> ")
        source.write_bytes(b"")
        screen.send("cat /image/cluster/brokers/1\r")
        screen.wait_for("Traceback")
        screen.wait(lambda screen: re.search(r"SourceError: .*\n/> $", screen.text))
        screen.send("pwd\r")
        screen.wait(lambda screen: screen.text.endswith("pwd\n/\n/> "))


def test_help_of_kafkas_form_needs_a_source() -> None:
    done = run_command("help", program=METADATA_SHELL)

    assert (done.code, done.errors[0]) == (
        1,
        "kafka-metadata-shell: argument --snapshot/-s is required",
    )


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("ls", "--help"), "ls: List metadata nodes."),
        (("find", "/image", "-h"), "find: Search for nodes"),
        (("help",), "Look around (help look)"),
        (("man", "grep"), "grep: Search for values."),
    ],
)
@pytest.mark.parametrize("source", [(), ("-s", "/nowhere")])
def test_help_needs_no_source(words: tuple[str, ...], shown: str, source: tuple[str, ...]) -> None:
    done = run_command("metadata-shell", *source, *words, program=KRAFTOPS)

    assert (done.code, done.err) == (0, "")
    assert done.text.startswith(shown)
