"""The small files of a log directory."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.dump import small_files
from kraftops.dump.small_files import small_file
from kraftops.errors import SourceError
from tests.helpers.tools.corpus import DATA, DUMPS

SMALL = DATA / "small-files"
"""Files of Kafka 4.3.1 with a dynamic quorum, and of 3.9.1 with a static one."""
NAMES = [
    "quorum-state",
    "partition.metadata",
    "leader-epoch-checkpoint",
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
    ".kafka_cleanshutdown",
]


def read(folder: Path, name: str, content: str | bytes) -> dict[str, Any]:
    """Return what is said of a file, less its name."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = small_file(str(path))
    assert found
    assert (found.pop("file"), found.pop("kind")) == (str(path), name)
    return found


def entry(topic: str, partition: int, offset: int) -> dict[str, object]:
    return {"topic": topic, "partition": partition, "offset": offset}


@pytest.mark.parametrize(
    ("path", "version", "data"),
    [
        (
            "4.3.1/__cluster_metadata-0/quorum-state",
            1,
            {
                "leaderId": 1,
                "leaderEpoch": 2,
                "votedId": -1,
                "votedDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA",
            },
        ),
        (
            "3.9.1/__cluster_metadata-0/quorum-state",
            0,
            {
                "clusterId": "",
                "leaderId": 1,
                "leaderEpoch": 2,
                "votedId": -1,
                "appliedOffset": 0,
                "currentVoters": [{"voterId": 1}],
            },
        ),
        (
            "4.3.1/__cluster_metadata-0/partition.metadata",
            0,
            {"topicId": "AAAAAAAAAAAAAAAAAAAAAQ"},
        ),
        (
            "4.3.1/__cluster_metadata-0/leader-epoch-checkpoint",
            0,
            {"entries": [{"epoch": 1, "startOffset": 0}, {"epoch": 2, "startOffset": 38}]},
        ),
        (
            "4.3.1/recovery-point-offset-checkpoint",
            0,
            {
                "entries": [
                    entry("orders", 0, 0),
                    entry("my.topic_x-1", 0, 0),
                    entry("orders", 1, 4),
                ]
            },
        ),
        ("4.3.1/log-start-offset-checkpoint", 0, {"entries": [entry("orders", 0, 2)]}),
        ("4.3.1/cleaner-offset-checkpoint", 0, {"entries": [entry("orders", 0, 8)]}),
        ("3.9.1/cleaner-offset-checkpoint", None, {"entries": []}),
        ("4.3.1/.kafka_cleanshutdown", 0, {"brokerEpoch": 41}),
        ("3.9.1/.kafka_cleanshutdown", 0, {"brokerEpoch": 35}),
    ],
)
def test_file_that_kafka_wrote_is_read(
    path: str, version: int | None, data: dict[str, object]
) -> None:
    found = small_file(str(SMALL / path))

    assert found == {
        "file": str(SMALL / path),
        "kind": Path(path).name,
        "version": version,
        "data": data,
    }


def test_all_that_kafka_wrote_is_undamaged() -> None:
    found = [small_file(str(path)) for root in (SMALL, DUMPS / "in") for path in root.rglob("*")]

    known = [one for one in found if one]
    assert {one["kind"] for one in known} == {*NAMES, "meta.properties"}
    assert [one for one in known if "damage" in one] == []


@pytest.mark.parametrize(
    "name", ["0.log", "quorum-state.tmp", "checkpoint", "partition.metadata.bak", "", "-"]
)
def test_file_of_another_name_is_no_small_file(name: str) -> None:
    assert small_file(f"quorum-state/{name}") is None


EPOCHS = "leader-epoch-checkpoint"
OFFSETS = "replication-offset-checkpoint"
STATE = '"leaderId":1,"leaderEpoch":2,"votedId":-1'


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        pytest.param(EPOCHS, "0\r\n1\r\n1 0\r\n", {"epoch": 1, "startOffset": 0}, id="CRLF"),
        pytest.param(EPOCHS, "0\n1\n1 0", {"epoch": 1, "startOffset": 0}, id="no newline"),
        pytest.param(EPOCHS, "0\n1\n1\t  0", {"epoch": 1, "startOffset": 0}, id="white space"),
        pytest.param(OFFSETS, "0\n1\nü 2 -1\n", entry("ü", 2, -1), id="text"),
    ],
)
def test_checkpoint_with_other_white_space_is_read(
    name: str, content: str, found: dict[str, object], tmp_path: Path
) -> None:
    assert read(tmp_path, name, content) == {"version": 0, "data": {"entries": [found]}}


@pytest.mark.parametrize(
    ("name", "content", "version", "data"),
    [
        pytest.param(OFFSETS, "", None, {"entries": []}, id="empty checkpoint"),
        pytest.param(OFFSETS, "0\n", 0, {"entries": []}, id="checkpoint with a version alone"),
        pytest.param(".kafka_cleanshutdown", "", None, {}, id="clean shutdown of old"),
        pytest.param(
            "quorum-state",
            '{"clusterId":"c","leaderId":-1,"leaderEpoch":0,"votedId":-1,"appliedOffset":0,'
            '"currentVoters":null,"data_version":0}',
            0,
            {
                "clusterId": "c",
                "leaderId": -1,
                "leaderEpoch": 0,
                "votedId": -1,
                "appliedOffset": 0,
                "currentVoters": None,
            },
            id="no voters",
        ),
        pytest.param(
            "quorum-state",
            f'{{{STATE},"votedDirectoryId":"x","later":[1],"data_version":1}}\n',
            1,
            {
                "leaderId": 1,
                "leaderEpoch": 2,
                "votedId": -1,
                "votedDirectoryId": "x",
                "later": [1],
            },
            id="fields to come",
        ),
        pytest.param(
            "partition.metadata",
            "version: 1\ntopic_id:  6dHPB-ipRSyod87HgjeQdw\nmore: 1\n",
            1,
            {"topicId": "6dHPB-ipRSyod87HgjeQdw"},
            id="later version",
        ),
    ],
)
def test_unusual_file_is_no_damage(
    name: str, content: str, version: int | None, data: dict[str, object], tmp_path: Path
) -> None:
    assert read(tmp_path, name, content) == {"version": version, "data": data}


@pytest.mark.parametrize(
    ("name", "content", "damage", "kept"),
    [
        pytest.param(OFFSETS, "x\n", "line 1: 'x' is not a number", 0, id="version"),
        pytest.param(OFFSETS, "1\n0\n", "line 1: version 1, not 0", 0, id="unknown version"),
        pytest.param(
            OFFSETS, "0\n2147483648\n", "line 2: '2147483648' is not a number", 0, id="count"
        ),
        pytest.param(OFFSETS, "0\n2\na 0 5\n", "1 entries, where line 2 has 2", 1, id="too few"),
        pytest.param(OFFSETS, "0\n0\na 0 5\n", "1 entries, where line 2 has 0", 1, id="too many"),
        pytest.param(OFFSETS, "0\n2\na 0 5\nb 1\n", "line 4: 'b 1' where 3 ", 1, id="cut short"),
        pytest.param(OFFSETS, "0\n1\na b c d\n", "line 3: 'a b c d' where 3 ", 0, id="too wide"),
        pytest.param(OFFSETS, "0\n1\n\na 0 1\n", "line 3: '' where 3 ", 0, id="empty line"),
        pytest.param(OFFSETS, "0\n1\na 0 ٣\n", "line 3: '٣' is not a number", 0, id="digits"),
        pytest.param(OFFSETS, b"0\n1\na\xff 0 1\n", "position 5: no UTF-8", None, id="no text"),
        pytest.param(EPOCHS, "0\n1\n1 2 3\n", "line 3: '1 2 3' where 2 ", 0, id="epochs"),
        pytest.param(EPOCHS, bytes(40), "line 1: ", 0, id="zeros"),
    ],
)
def test_damaged_checkpoint_says_where(
    name: str, content: str | bytes, damage: str, kept: int | None, tmp_path: Path
) -> None:
    """The lines before the damage are there."""
    found = read(tmp_path, name, content)

    assert found["damage"].startswith(damage)
    assert len(found["data"].get("entries", [])) == (kept or 0)


@pytest.mark.parametrize(
    ("name", "content", "damage"),
    [
        pytest.param("quorum-state", "", "no JSON: ", id="empty"),
        pytest.param("quorum-state", "{", "no JSON: ", id="cut short"),
        pytest.param("quorum-state", bytes(104), "no JSON: ", id="zeros"),
        pytest.param("quorum-state", "[]", "no JSON object", id="a list"),
        pytest.param("quorum-state", "[" * 100_000, "no JSON: ", id="deep"),
        pytest.param("quorum-state", '{"a":NaN}', "no JSON: NaN", id="not a number"),
        pytest.param("quorum-state", '{"a":' + "9" * 9_999 + "}", "no JSON: ", id="many digits"),
        pytest.param("quorum-state", '{"a":1e999}', "no JSON: Out of range", id="large number"),
        pytest.param("quorum-state", '{"a":"\\ud800"}', "no JSON: ", id="half a character"),
        pytest.param("quorum-state", "{}", "data_version is null, not 0 or 1", id="no version"),
        pytest.param("quorum-state", '{"data_version":2}', "data_version is 2, ", id="version 2"),
        pytest.param("quorum-state", '{"data_version":[1]}', "data_version is [1]", id="list"),
        pytest.param("quorum-state", '{"data_version":true}', "data_version is true", id="true"),
        pytest.param(
            "quorum-state",
            f'{{{STATE},"data_version":1}}',
            "votedDirectoryId is missing",
            id="less",
        ),
        pytest.param(
            "quorum-state", '{"leaderId":"1","data_version":1}', 'leaderId is "1"', id="type"
        ),
        pytest.param(".kafka_cleanshutdown", '{"version":1}', "version is 1, not 0", id="later"),
        pytest.param(".kafka_cleanshutdown", '{"version":0}', "brokerEpoch is missing", id="none"),
        pytest.param("partition.metadata", "", "line 1: '' instead of version", id="nothing"),
        pytest.param("partition.metadata", "version: 0", "line 2: '' instead of topic_id", id="1"),
        pytest.param("partition.metadata", "version: x\ntopic_id: y", "line 1: 'x' is", id="x"),
        pytest.param(
            "partition.metadata", "version: -1\ntopic_id: y", "line 1: version -1", id="-"
        ),
        pytest.param("partition.metadata", "version: 0\ntopic_id: y", "line 2: Input", id="id"),
        pytest.param(
            "partition.metadata", f"version: 0\ntopic_id: {'A' * 22}", "line 2: a topic ", id="zero"
        ),
    ],
)
def test_damage_is_reported(name: str, content: str | bytes, damage: str, tmp_path: Path) -> None:
    assert read(tmp_path, name, content)["damage"].startswith(damage)


@pytest.mark.parametrize("name", NAMES)
@given(content=st.binary(max_size=200) | st.text(st.sampled_from('0123\n {}":,[]a-')))
def test_any_content_can_be_shown(
    name: str, content: str | bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    found = read(tmp_path_factory.mktemp("any"), name, content)

    json.dumps(found, ensure_ascii=False, allow_nan=False).encode()


def test_file_that_is_far_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "_MOST_BYTES", 10)

    assert "damage" not in read(tmp_path, OFFSETS, "0\n1\na 0 1\n")
    assert read(tmp_path, OFFSETS, "0\n1\na 0 10\n")["damage"] == "more than 10 bytes"


@pytest.mark.parametrize("name", NAMES)
def test_file_that_cannot_be_read_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="No such file"):
        small_file(str(tmp_path / name))
    (tmp_path / name).mkdir()
    with pytest.raises(SourceError, match="Is a directory"):
        small_file(str(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "version", "data", "damage"),
    [
        (
            "version=1\nnode.id : 3\ncluster.id=k\\u00f6ln\n",
            1,
            {"node.id": "3", "cluster.id": "köln"},
            None,
        ),
        ("broker.id=3\n", 0, {"broker.id": "3"}, None),
        ("version=one\n", None, {}, "Invalid meta.properties version string 'one'"),
        ("a=\\u12\n", None, {}, "line 1: Malformed \\uxxxx encoding."),
    ],
    ids=["version 1", "version 0", "no version", "bad escape"],
)
def test_meta_properties_is_read_as_java_reads_it(
    content: str, version: int | None, data: dict[str, str], damage: str | None, tmp_path: Path
) -> None:
    found = read(tmp_path, "meta.properties", content)

    assert found["version"] == version
    assert found["data"] == data
    assert found.get("damage") == damage
