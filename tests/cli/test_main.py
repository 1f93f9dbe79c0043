"""Each error is an exit code and one or two lines, without a traceback."""

import contextlib
import fcntl
import io
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import patch

import click
import pytest

from kraftops.engine.choice import why_not_native
from kraftops.errors import SourceError, UsageError
from kraftops.log.batch import Record
from kraftops_cli import main
from kraftops_cli.terminal.streams import Terminal
from kraftops_cli.version import KAFKA_VERSION, VERSION
from kraftops_terminal.ending import EndedBySignal
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import (
    CLUSTER,
    DUMP_LOG,
    ENVIRONMENT,
    MemoryTerminal,
    run_command,
    run_here,
    wait_for_bytes,
)

SNAPSHOT = "tests/data/shell/in/crafted/crafted-all.checkpoint"
_PIPE = 4096  # bytes, the least that a pipe can have
BATCH = batch_bytes([Record(n, 5, b"key", b"value of a record") for n in range(5_000)])


@pytest.fixture(scope="module")
def large_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 30 MB, whose text fills any pipe many times."""
    path = tmp_path_factory.mktemp("large") / "0.log"
    with path.open("wb") as out:
        for _ in range(30_000_000 // len(BATCH)):
            out.write(BATCH)
    return path


def start(path: Path) -> subprocess.Popen[bytes]:
    """Begin to dump a log, with the signals of an interactive shell."""

    def mind_signals() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    return subprocess.Popen(
        [DUMP_LOG, "--files", str(path), "--print-data-log"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
        preexec_fn=mind_signals,  # noqa: PLW1509 - no thread of ours is running
    )


def test_closed_pipe_is_silent(large_log: Path) -> None:
    """As with `| head -1`."""
    process = start(large_log)
    assert process.stdout is not None
    assert process.stderr is not None

    first = process.stdout.readline()
    process.stdout.close()
    code, err = process.wait(60), process.stderr.read()
    process.stderr.close()

    assert first.startswith(b"Dumping ")
    assert (code, err) == (141, b"")


def test_closed_pipe_of_a_small_output_is_silent(tmp_path: Path) -> None:
    """The error comes only with the last flush."""
    (tmp_path / "0.log").write_bytes(BATCH)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [DUMP_LOG, "--files", "0.log"],
            cwd=tmp_path,
            stdout=writing,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)

    assert (done.returncode, done.stderr) == (141, b"")


def test_interrupt_is_silent(large_log: Path) -> None:
    process = start(large_log)
    assert process.stdout is not None
    process.stdout.read(1)

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)

    assert (process.returncode, err) == (130, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize("arguments", [["--files", "0.log"], ["--version"], ["--help"]])
def test_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(BATCH)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [DUMP_LOG, *arguments],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.decode() == (
        "kafka-dump-log: cannot write to standard output: No space left on device\n"
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk_amid_a_large_output_is_one_line(large_log: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [DUMP_LOG, "--files", str(large_log), "--print-data-log"],
            stdout=full,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "kafka-dump-log: cannot write to standard output: No space left on device"
    ]


@pytest.mark.parametrize(
    "words", [("dump-log", "--help"), ("metadata-shell", "-s", SNAPSHOT, "export", "/")]
)
def test_output_waits_for_a_pipe_that_is_full_and_non_blocking(words: tuple[str, ...]) -> None:
    """Another process that has the pipe, too, may have made it so."""
    command = [str(Path(DUMP_LOG).with_name("kraftops")), *words]
    whole = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=True).stdout
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE)
    os.set_blocking(writer, False)
    with subprocess.Popen(command, stdout=writer, env=ENVIRONMENT) as process:
        os.close(writer)
        wait_for_bytes(reader, _PIPE)
        with open(reader, "rb") as file:
            came = file.read()

    assert (process.returncode, came) == (0, whole)
    assert len(whole) > _PIPE


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_standard_error_that_is_full_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(BATCH + bytes(100))
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [DUMP_LOG, "--files", "0.log,1.log,0.log"],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=full,
            env=ENVIRONMENT,
            timeout=60,
            check=False,
        )

    assert done.returncode == 1
    assert done.stdout.count(b"baseOffset: ") == 2


def run(error: BaseException, **environment: str) -> tuple[int, str]:
    """Run a command that raises; return code and standard error."""

    @click.command()
    def failing() -> None:
        raise error

    err = io.StringIO()
    terminal = MemoryTerminal("tool", io.BytesIO())
    with (
        patch.object(sys, "argv", ["tool"]),
        patch.object(sys, "stderr", err),
        patch.dict(os.environ, environment),
    ):
        code = main.run(failing, "tool", terminal)
    return code, err.getvalue()


def test_error_of_the_library_is_one_line_with_its_code() -> None:
    class Worse(SourceError):
        exit_code = 7

    assert run(UsageError("not so", hint="but so")) == (1, "tool: not so [usage]\nhint: but so\n")
    assert run(Worse("cannot read it")) == (7, "tool: cannot read it [unreadable]\n")


def test_error_comes_with_its_origin_when_debugging() -> None:
    with pytest.raises(UsageError, match="not so"):
        run(UsageError("not so"), KRAFTOPS_DEBUG="1")


def test_limit_of_threads_is_one_line_with_a_hint() -> None:
    with patch.object(
        threading.Thread, "start", side_effect=RuntimeError("can't start new thread")
    ):
        done = run_here("describe", "-b", "127.0.0.1:1", program=CLUSTER)

    assert done.code == 1
    assert done.errors == [
        "kafka-cluster: the system starts no more threads",
        "hint: its limit is reached: ulimit -u, or pids.max of a container",
    ]


def test_error_of_click_is_one_line_with_a_hint() -> None:
    assert run(click.UsageError("not so")) == (
        1,
        "tool: not so [usage]\nhint: tool --help shows how it is used\n",
    )


def test_code_of_an_exit_is_kept() -> None:
    assert run(click.exceptions.Exit(3)) == (3, "")


@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-", ">&- 2>&-"])
def test_closed_stream_is_no_traceback(stream: str, tmp_path: Path) -> None:
    """A caller may close any stream before the tool starts."""
    (tmp_path / "0.log").write_bytes(BATCH + bytes(100))

    done = run_command(
        "-c",
        f'"{DUMP_LOG}" --files 0.log,1.log {stream}; echo $? > code',
        program="sh",
        cwd=tmp_path,
    )

    assert "Traceback" not in done.err
    assert (tmp_path / "code").read_text().strip() == "1"


@pytest.mark.parametrize("stream", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_output_does_not_get_the_number_of_a_closed_stream(stream: str, tmp_path: Path) -> None:
    """What is written to standard output, or standard error, would come into the file."""
    log = Path("tests/data/shell/in/replay/r01-same-name-new-id.log").absolute()
    dump = f'"{DUMP_LOG}" --cluster-metadata-decoder --format json --files "{log}"'
    run_command("-c", f"{dump} > expected", program="sh", cwd=tmp_path)

    done = run_command("-c", f"{dump} --output out {stream}", program="sh", cwd=tmp_path)

    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes() != b""


def test_closed_standard_input_of_the_shell_is_one_line(tmp_path: Path) -> None:
    log = Path("tests/data/shell/in/replay/r01-same-name-new-id.log").absolute()
    shell = str(Path(DUMP_LOG).with_name("kraftops"))
    command = f'"{shell}" metadata-shell -s "{log}" <&-'

    done = run_command("-c", command, program="sh", cwd=tmp_path)

    assert done.code == 1
    assert (
        done.errors[-1] == "kraftops: cannot read standard input: Bad file descriptor [unreadable]"
    )


def test_working_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    command = f'mkdir gone && cd gone && rmdir ../gone && exec "{DUMP_LOG}" --summary --files .'

    done = run_command("-c", command, program="sh", cwd=tmp_path)

    assert (done.code, done.text) == (1, "")
    assert done.errors == ["kafka-dump-log: the working directory no longer exists"]


# The engine


@pytest.mark.parametrize("name", ["reference", "native"])
def test_version_names_the_engine(name: str) -> None:
    if name == "native" and why_not_native():
        pytest.skip("there is none")
    program = str(Path(DUMP_LOG).with_name("kraftops"))

    done = run_command(
        "--version", cwd=Path.cwd(), program=program, environment={"KRAFTOPS_ENGINE": name}
    )

    line = f"kraftops {VERSION} (Kafka {KAFKA_VERSION}), {name} engine"
    assert (done.code, done.text.splitlines()[0]) == (0, line)


def test_unknown_engine_is_refused_in_two_lines(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(BATCH)

    done = run_command("--files", "0.log", cwd=tmp_path, environment={"KRAFTOPS_ENGINE": "fast"})

    assert (done.code, done.text) == (1, "")
    assert done.errors == [
        "kafka-dump-log: KRAFTOPS_ENGINE is 'fast': there is no such engine",
        "hint: native or reference",
    ]


@pytest.mark.parametrize("end", [KeyboardInterrupt, EndedBySignal(15)])
def test_interruption_leaves_the_answer_so_far(end: BaseException) -> None:
    """Work on several brokers has changed a cluster: programs must know what is done."""

    @click.command()
    @click.pass_obj
    def work(terminal: Terminal) -> None:
        terminal.answer("work", {"brokers": [1]})
        raise end

    out = io.BytesIO()
    terminal = MemoryTerminal("tool", out, is_json=True)
    with (
        contextlib.suppress(SystemExit),
        patch.object(sys, "argv", ["tool"]),
        patch("kraftops_cli.terminal.streams.drop_output"),
    ):
        main.run(work, "tool", terminal)

    answer = json.loads(out.getvalue())
    assert (answer["command"], answer["error"], answer["brokers"]) == ("work", "interrupted", [1])
