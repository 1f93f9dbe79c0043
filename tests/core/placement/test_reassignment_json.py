"""Plans as JSON of kafka-reassign-partitions."""

import json
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.placement.placement import TopicPartition
from kraftops.placement.plan import Limits, plan_removal
from kraftops.placement.reassignment_json import plan_json, read_plan
from tests.helpers.placement import placement

PARTITION = {"topic": "t", "partition": 0, "replicas": [1, 2]}


def written(folder: Path, data: object) -> str:
    path = folder / "plan.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return str(path)


def test_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    moves = plan_removal(placement(dict.fromkeys(range(5), None), [(0, 1), (0,)]), {0}, Limits())

    found = read_plan(written(tmp_path, plan_json(moves.moves)))

    assert len(found) == 2
    for move in moves.moves:
        assert found[move.partition] == move


def test_plan_of_kafkas_tool_is_read(tmp_path: Path) -> None:
    data = {"version": 1, "partitions": [{**PARTITION, "log_dirs": ["any", "any"]}]}

    assert read_plan(written(tmp_path, data)) == {
        TopicPartition("t", 0): (TopicPartition("t", 0), (), (1, 2), ())
    }


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("{", "not valid JSON"),
        ([], "not a plan"),
        ({"version": 2, "partitions": []}, "version 2"),
        ({"partitions": [7]}, "partitions[0]: not an object"),
        ({"partitions": [{**PARTITION, "topic": "a\nb"}]}, "not a valid topic name"),
        ({"partitions": [{**PARTITION, "partition": True}]}, "not a valid partition number"),
        ({"partitions": [{**PARTITION, "replicas": []}]}, "not a list of broker ids"),
        ({"partitions": [{**PARTITION, "replicas": [1, -1]}]}, "not a list of broker ids"),
        ({"partitions": [{**PARTITION, "replicas": [1, 1]}]}, "has a broker twice"),
        ({"partitions": [{**PARTITION, "log_dirs": ["d", "any"]}]}, "'d' is not 'any' or an"),
        ({"partitions": [{**PARTITION, "log_dirs": ["any"]}]}, "is not a list with a directory"),
        ({"partitions": [{**PARTITION, "log_dirs": 5}]}, "log_dirs: 5 is not a list"),
        ({"partitions": [PARTITION, PARTITION]}, "partitions[1]: t-0 is there twice"),
    ],
)
def test_bad_plan_is_refused_with_its_place(data: object, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, data)

    with pytest.raises(UsageError) as raised:
        read_plan(path)

    assert raised.value.message.startswith(path)
    assert message in raised.value.message


def test_missing_plan_is_not_found() -> None:
    with pytest.raises(SourceError, match=r"nowhere\.json: No such file") as raised:
        read_plan("nowhere.json")

    assert (raised.value.code, raised.value.exit_code) == ("not-found", 4)


@pytest.mark.parametrize("replicas", ["[" * 900 + "]" * 900, "[" + "1," * 100_000 + '"x"]'])
def test_message_about_a_plan_stays_short(replicas: str, tmp_path: Path) -> None:
    text = '{"partitions": [{"topic": "t", "partition": 0, "replicas": %s}]}'

    with pytest.raises(UsageError) as raised:
        read_plan(written(tmp_path, text % replicas))

    assert len(raised.value.message) < len(str(tmp_path)) + 200
