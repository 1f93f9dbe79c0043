"""The argument syntax of jopt-simple, on kafka-dump-log."""

from pathlib import Path

import pytest

from kraftops.log.batch import Record
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.console import run_here

LOG = batch_bytes([Record(0, 5, b"key", b"value")])
USAGE = "hint: kafka-dump-log --help shows how it is used"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "0.log"
    path.write_bytes(LOG)
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["--files", "0.log", "--print-data-log"], id="as Kafka shows it"),
        pytest.param(["--files=0.log", "--print-data-log"], id="equals sign"),
        pytest.param(["-files", "0.log", "-print-data-log"], id="single dash"),
        pytest.param(["-files=0.log", "-print-data-log"], id="single dash and equals sign"),
        pytest.param(["--print-data-log", "--files", "0.log"], id="other order"),
        pytest.param(["--files", "0.log", "--print-data-log=true"], id="flag with a value"),
        pytest.param(["--files", "0.log", "--print-data-log=false"], id="whatever it is"),
        pytest.param(["--files", "0.log", "--print-data-log", "--print-data-log"], id="flag twice"),
        pytest.param(["--files", "0.log", "--key-decoder-class"], id="optional value at the end"),
        pytest.param(["--key-decoder-class", "--files", "0.log"], id="optional value left out"),
        pytest.param(
            [
                "--files",
                "0.log",
                "--value-decoder-class=org.apache.kafka.tools.api.StringDecoder",
            ],
            id="optional value given",
        ),
        pytest.param(
            [
                "--files",
                "0.log",
                "--value-decoder-class",
                "org.apache.kafka.tools.api.StringDecoder",
            ],
            id="optional value behind a blank",
        ),
    ],
)
def test_equivalent_command_lines(arguments: list[str], log: Path) -> None:
    done = run_here(*arguments, cwd=log.parent)

    assert done.code == 0
    assert done.errors == []
    assert done.text.splitlines()[3].endswith(" key: key payload: value")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["0.log", "--files", "0.log", "9.log"], id="others"),
        pytest.param(["--files", "0.log", "--", "0.log", "9.log"], id="behind --"),
    ],
)
def test_positional_arguments_are_files_after_those_of_the_option(
    arguments: list[str], log: Path
) -> None:
    done = run_here(*arguments, cwd=log.parent)

    dumped = [line for line in done.text.splitlines() if line.startswith("Dumping")]
    assert dumped == ["Dumping 0.log", "Dumping 0.log", "Dumping 9.log"]
    assert done.code == 1
    assert done.errors == ["kafka-dump-log: cannot read 9.log: No such file or directory"]


def refused(*arguments: str, cwd: Path) -> list[str]:
    """Return the lines of a run that is refused before anything is printed."""
    done = run_here(*arguments, cwd=cwd)
    assert done.code == 1
    assert done.out == b""
    assert all(line.startswith(("kafka-dump-log: ", "hint: ")) for line in done.errors)
    return done.errors


@pytest.mark.parametrize(
    ("argument", "meant"),
    [
        ("--file", "--files"),
        ("--print-data-logs", "--print-data-log"),
        ("--ofsets-decoder", "--offsets-decoder"),
    ],
)
def test_unknown_option_gets_a_suggestion(argument: str, meant: str, log: Path) -> None:
    """Options are not abbreviated."""
    first, second = refused(argument, "0.log", cwd=log.parent)

    assert f"there is no option {argument}: did you mean {meant}?" in first
    assert second == USAGE


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        pytest.param([], "no options are given", id="nothing"),
        pytest.param(["--print-data-log"], "Missing option --files", id="no files"),
        pytest.param(["--files"], "--files needs a value", id="no value"),
        pytest.param(
            ["--files", "0.log", "--files", "0.log"], "--files is given more than once", id="twice"
        ),
        pytest.param(
            ["--files", "0.log", "--max-memory=1g", "--max-memory=2g"],
            "--max-memory is given more than once",
            id="number twice",
        ),
        pytest.param(["--files", "0.log", "--max-bytes", "lots"], "--max-bytes", id="no number"),
        pytest.param(["--files", "0.log", "--max-bytes", "-1"], "--max-bytes", id="negative"),
        pytest.param(["--files", "0.log", "--max-bytes", "2147483648"], "--max-bytes", id="large"),
        pytest.param(["--files", "0.log", "--max-bytes="], "--max-bytes", id="empty number"),
        pytest.param(
            ["--files", "0.log", "--dialect", "klingon"], "'kip-631-draft'", id="unknown dialect"
        ),
        pytest.param(
            ["--files", "0.log", "--key-decoder-class", "com.example.Mine"],
            "'com.example.Mine' is none of Kafka's own decoders",
            id="foreign decoder",
        ),
    ],
)
def test_bad_request_is_one_line_and_a_hint(arguments: list[str], reason: str, log: Path) -> None:
    first, second = refused(*arguments, cwd=log.parent)

    assert reason in first
    assert second.endswith(USAGE.removeprefix("hint: "))


@pytest.mark.parametrize(
    "arguments", [["--version"], ["-version"], ["--version", "--files", "0.log"]]
)
def test_version_is_kafkas(arguments: list[str], tmp_path: Path) -> None:
    done = run_here(*arguments, cwd=tmp_path)

    assert (done.code, done.out, done.errors) == (0, b"4.3.1\n", [])


def test_option_takes_the_next_argument_as_its_value(tmp_path: Path) -> None:
    """As with jopt-simple."""
    path = tmp_path / "--print-data-log.log"
    path.write_bytes(LOG)

    done = run_here("--files", "--print-data-log.log", cwd=tmp_path)

    assert done.text.startswith("Dumping --print-data-log.log\n")


@pytest.mark.parametrize(
    ("files", "dumped"),
    [
        ("0.log,0.log", ["0.log", "0.log"]),
        ("0.log,", ["0.log"]),
        ("0.log,,", ["0.log"]),
        ("0.log, 0.log", ["0.log", " 0.log"]),
        (",0.log", ["", "0.log"]),
        ("", [""]),
    ],
)
def test_list_of_files_is_split_as_java_does(files: str, dumped: list[str], log: Path) -> None:
    done = run_here("--files", files, cwd=log.parent)

    names = [line[8:] for line in done.text.splitlines() if line.startswith("Dumping ")]
    assert names == dumped
