"""The command ls in our form."""

from pathlib import Path

import pytest

from tests.helpers.logs.metadata_logs import snapshot_bytes, write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.shell_session import LOG, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def test_natural_sort_compares_numbers(shell: Shell) -> None:
    numbers = [str(number) for number in range(12)]

    assert shell("ls", "--sort", "natural", ORDERS).lines == [*numbers, "id", "name"]
    assert shell("ls", "--sort", "name", ORDERS).out == shell("ls", ORDERS).out
    assert shell("ls", ORDERS).lines[:3] == ["0", "1", "10"]


def test_long_list_has_size_and_last_change(shell: Shell) -> None:
    long = shell("ls", "-l", ORDERS).lines

    size = len(shell("cat", f"{ORDERS}/0").out) - 1
    assert long[0].split() == ["-", str(size), "555", "2026-11-21T10:50:11.725Z", "0"]
    assert long[-1].split() == ["-", "8", "71", "2026-11-21T10:47:56.840Z", "name"]


def test_directory_has_number_of_children_and_newest_change(shell: Shell) -> None:
    lines = {
        line.split()[-1]: line.split() for line in shell("ls", "-l", "/image/topics/byName").lines
    }

    newest = max(int(line.split()[2]) for line in shell("ls", "-l", ORDERS).lines)
    assert lines["orders"][:3] == ["d", "14", str(newest)]


def test_node_without_record_has_no_change(shell: Shell) -> None:
    assert shell("ls", "-l", "/local/version").lines == ["- 3  -  -  version"]


def test_change_in_a_snapshot_is_an_upper_bound() -> None:
    assert shell_line(Shell(SNAPSHOT), ORDERS + "/0").split()[2] == "<=412"


def shell_line(shell: Shell, path: str) -> str:
    (line,) = shell("ls", "-l", path).lines
    return line


def test_empty_directories_print_nothing(tmp_path: Path) -> None:
    write_log(tmp_path, {0: [bytes(LogBatch(0, [new_record("NoOpRecord")]))]})

    assert Shell(tmp_path)("ls", "-l", "/image/acls/byId").out == ""


def test_default_quotas_can_be_reached(shell: Shell) -> None:
    assert shell("cat", "/image/clientQuotas/user<default>/consumer_byte_rate").code == 0
    assert len(shell("cat", "/image/clientQuotas/*default*/*").lines) == 4


def test_secrets_stay_hidden(tmp_path: Path) -> None:
    config = new_record(
        "ConfigRecord", resourceType=4, resourceName="1", name="ssl.key.password", value="x4711x"
    )
    batch = bytes(LogBatch(1, [config]))
    write_log(tmp_path, {}, {(2, 1): snapshot_bytes(batch, end=2)})
    shell = Shell(tmp_path)

    assert "redacted" in shell("cat", "/image/configs/BROKER:1/*").out
    for words in (
        ["grep", "4711", "/"],
        ["find", "/", "-value", "4711"],
        ["export", "/"],
        ["tree", "/"],
        ["history-of", "/image/configs/BROKER:1"],
        ["diff", "/image/acls", "/image/configs"],
    ):
        assert "4711" not in shell(*words).out, words
