"""A command line becomes a plan, or is refused before anything is read."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.terminal.streams import Terminal
from tests.helpers.tools.console import Done, run_here


class Plans:
    """The plans that command lines make, without running them."""

    def __init__(self) -> None:
        self.made: list[Plan] = []

    def look_up(self, plan: Plan, _: Terminal, *, is_whole: bool) -> Plan:
        assert is_whole
        return plan

    def run(self, plan: Plan, _: Terminal) -> int:
        self.made.append(plan)
        return 0

    def of(self, *args: str) -> Plan:
        done = run_here(*args)
        assert (done.code, done.err) == (0, "")
        return self.made.pop()

    def query(self, *args: str) -> Query:
        return self.of("--files", "0.log", *args).query

    def refused(self, *args: str) -> Done:
        done = run_here(*args)
        assert (done.code, self.made) == (1, [])
        return done


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> Plans:
    found = Plans()
    monkeypatch.setattr("kraftops_cli.dump_log.request.with_known_topics", found.look_up)
    monkeypatch.setattr("kraftops_cli.dump_log.request.run_dump", found.run)
    return found


@pytest.mark.parametrize(
    ("files", "paths"),
    [
        ("a.log,b.log", ["a.log", "b.log"]),
        ("a.log,,", ["a.log"]),
        ("a.log,,b.log", ["a.log", "", "b.log"]),
    ],
)
def test_list_of_files_is_split_as_java_does(plans: Plans, files: str, paths: list[str]) -> None:
    assert plans.of("--files", files).paths == paths


def test_other_arguments_are_files_too(
    plans: Plans, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.log").touch()

    assert plans.of("--files", "a.log", "b.log").paths == ["a.log", "b.log"]
    assert plans.of("b.log").paths == ["b.log"]


def test_request_without_files_is_refused(plans: Plans) -> None:
    assert "--files" in plans.refused("--print-data-log").err


@pytest.mark.parametrize(
    ("options", "decoder", "is_deep"),
    [
        pytest.param([], None, False, id="none"),
        pytest.param(["--deep-iteration"], None, True, id="deep"),
        pytest.param(["--print-data-log"], "user", True, id="data"),
        pytest.param(["--cluster-metadata-decoder"], "metadata", True, id="metadata"),
        pytest.param(["--print-data-log", "--offsets-decoder"], "offsets", True, id="own"),
        pytest.param(["--dialect", "kip-631"], "metadata", True, id="dialect"),
        pytest.param(["--where", "value='x'"], None, True, id="where"),
        pytest.param(["--offset", "5.."], None, False, id="offset"),
    ],
)
def test_decoder_and_depth_follow_from_the_options(
    plans: Plans, options: list[str], decoder: str | None, is_deep: bool
) -> None:
    query = plans.query(*options)

    assert (query.decoder, query.deep_iteration) == (decoder, is_deep)


def test_class_of_kafka_is_a_decoder_of_user_topics(plans: Plans) -> None:
    name = "org.apache.kafka.tools.api.LongDecoder"

    query = plans.query("--value-decoder-class", name)

    assert (query.decoder, query.value_decoder) == ("user", name)
    assert query.key_decoder == Query().key_decoder


def test_class_of_others_is_refused(plans: Plans) -> None:
    done = plans.refused("--files", "0.log", "--key-decoder-class", "com.example.Decoder")

    assert "'com.example.Decoder' is none of Kafka's own decoders" in done.err
    assert "--key-decoder-class" in done.err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--limit", "1", "--tail", "1"], "--limit and --tail do not go together"),
        (["--top", "0"], "--top needs --summary"),
        (["--follow", "--output", "out"], "--follow and --output do not go together"),
        (["--format", "parquet"], "--format parquet needs --output FILE"),
        (["--summary", "--format", "csv"], "--summary and --format csv do not go together"),
    ],
    ids=str,
)
def test_options_that_contradict_each_other_are_refused(
    plans: Plans, options: list[str], text: str
) -> None:
    assert text in plans.refused("--files", "0.log", *options).err


@pytest.mark.parametrize(
    ("option", "out"),
    [("--max-bytes", "Dumping a.log\n"), ("--dialect", "")],
)
def test_repeated_number_is_refused_after_the_line_of_the_first_file(
    plans: Plans, option: str, out: str
) -> None:
    value = "5" if option == "--max-bytes" else "kafka"

    done = plans.refused("--files", "a.log,b.log", option, value, option, value)

    assert done.text == out
    assert f"{option} is given more than once" in done.err


def test_type_of_no_decoder_is_refused(plans: Plans) -> None:
    assert "none is chosen" in plans.refused("--files", "0.log", "--type", "topic").err


@pytest.mark.parametrize(
    ("options", "values"),
    [
        (["--limit", "3"], {"limit": 3}),
        (["--tail", "3", "--output", "out"], {"tail": 3, "output": "out"}),
        (["--summary"], {"summary": True}),
        (["--jobs", "2"], {"jobs": 2}),
    ],
    ids=str,
)
def test_plan_has_the_options_about_the_output(
    plans: Plans, options: list[str], values: dict[str, Any]
) -> None:
    plan = plans.of("--files", "0.log", *options)

    assert {name: getattr(plan, name) for name in values} == values


def test_option_of_spark_needs_spark(plans: Plans) -> None:
    assert "--sql needs --spark" in plans.refused("--files", "0.log", "--sql", "SELECT 1").err
