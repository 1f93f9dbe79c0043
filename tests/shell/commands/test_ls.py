"""The command ls in our form."""

import re
from pathlib import Path
from shutil import copytree

import pytest

from kraftops_terminal.widths import width_of_text
from tests.helpers.logs.metadata_logs import snapshot_bytes, write_log
from tests.helpers.logs.random_logs import LogBatch, new_record
from tests.helpers.tools.shell_session import LOG, NODE, SNAPSHOT, Shell

ORDERS = "/image/topics/byName/orders"


@pytest.fixture(scope="module")
def shell() -> Shell:
    return Shell(LOG)


def rows(shell: Shell, path: str) -> dict[str, dict[str, str]]:
    """Return the cells of a long list in a pipe, by names and titles."""
    head, *lines = shell("ls", "-l", path).lines
    titles = re.split(r" {2,}", head)
    cells = (re.split(r" {2,}", line) for line in lines)
    return {one[0]: dict(zip(titles, one, strict=True)) for one in cells}


def test_numbers_in_names_count_by_value(shell: Shell) -> None:
    numbers = [str(number) for number in range(12)]

    assert shell("ls", ORDERS).lines == [*numbers, "id", "name"]
    assert shell("ls", "--sort", "natural", ORDERS).out == shell("ls", ORDERS).out
    assert shell("ls", "--sort", "name", ORDERS).lines[:3] == ["0", "1", "10"]
    assert Shell(LOG, kafka=True)("ls", ORDERS).lines[:3] == ["0", "1", "10"]
    assert [line.split(":")[0] for line in shell("tree", ORDERS).lines[::2]] == [
        *numbers,
        "id",
        "name",
    ]
    assert shell("ls", f"{ORDERS}/{{10,2,1}}").lines == ["1", "2", "10"]


def test_partitions_have_leader_isr_and_replicas(shell: Shell) -> None:
    found = rows(shell, ORDERS)

    assert found["3"] == {
        "name": "3",
        "leader": "-",
        "isr": "-",
        "replicas": "4,2,3",
        "elr": "3,4",
        "adding": "2",
        "removing": "3",
        "offset": "404",
        "last change": "2026-11-21T10:49:04.310Z",
    }
    assert found["name"]["replicas"] == "-"
    assert found["name"]["offset"] == "71"


def test_leaders_are_shown_while_there_are_some() -> None:
    found = rows(Shell(LOG, at_offset=300), ORDERS)

    assert found["1"]["leader"] in found["1"]["isr"].split(",")


def test_topics_have_partitions_and_replication(shell: Shell) -> None:
    found = rows(shell, "/image/topics/byName")

    assert (found["orders"]["partitions"], found["orders"]["replication"]) == ("12", "2,3")
    newest = max(int(row["offset"]) for row in rows(shell, ORDERS).values())
    assert found["orders"]["offset"] == str(newest)


def test_brokers_have_state_rack_and_listeners(shell: Shell) -> None:
    found = rows(shell, "/image/cluster/brokers")

    assert found["2"] == {
        "name": "2",
        "state": "registered-fenced",
        "rack": "r2",
        "epoch": "20",
        "listeners": "PLAINTEXT://localhost:24177",
        "offset": "581",
        "last change": "2026-11-21T10:50:11.812Z",
    }


def test_features_have_levels_and_the_versions_that_brought_them(shell: Shell) -> None:
    found = rows(shell, "/image/features")

    assert (found["metadataVersion"]["level"], found["metadataVersion"]["since"]) == (
        "30",
        "4.3-IV0",
    )
    assert found["finalized_group.version"]["since"] == "4.0-IV0"


def test_other_nodes_have_type_and_size(shell: Shell) -> None:
    size = len(shell("cat", "/image/provenance").out) - 1

    assert rows(shell, "/image")["provenance"] == {
        "name": "provenance",
        "type": "leaf",
        "size": str(size),
        "offset": "-",
        "last change": "-",
    }
    assert rows(shell, "/image")["scram"]["size"] == "2"


def test_change_in_a_snapshot_is_an_upper_bound() -> None:
    assert rows(Shell(SNAPSHOT), ORDERS + "/0")["0"]["offset"] == "<=412"


def test_long_list_of_wide_letters_is_aligned(tmp_path: Path) -> None:
    records = [
        new_record("TopicRecord", name=name, topicId=bytes([at] * 16))
        for at, name in enumerate(("注文注文", "e\u0301t\u0301", "plain", "\x1b[2J"), 1)
    ]
    write_log(tmp_path, {0: [bytes(LogBatch(0, records))]})

    lines = Shell(tmp_path)("ls", "-l", "/image/topics/byName").lines

    assert len(lines) == 5
    ends = {width_of_text(line[: line.index("20")]) for line in lines[1:]}
    assert len(ends) == 1
    assert not any("\x1b" in line for line in lines)


def test_directories_of_replicas_have_brokers_and_paths(tmp_path: Path) -> None:
    node = tmp_path / "data"
    copytree(NODE, node)
    (node / "meta.properties").write_text(
        "version=1\ncluster.id=x\nnode.id=1\ndirectory.id=jfCARTc31uND2tKSFKEXew\n"
    )

    found = rows(Shell(node), "/image/byDirectory")

    assert found["jfCARTc31uND2tKSFKEXew"]["brokers"] == "1"
    assert found["jfCARTc31uND2tKSFKEXew"]["path"] == str(node)
    assert found["AAAAAAAAAAAAAAAAAAAAAQ"]["path"] == "unassigned"
    assert int(found["AAAAAAAAAAAAAAAAAAAAAQ"]["replicas"]) == 2


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
