"""The plan of a dump: the query of a source, the output, and the exit code."""

import os
from pathlib import Path

import pytest

from kraftops.dump.report import Report
from kraftops.dump.sources.names import Source
from kraftops.errors import SourceError
from kraftops.query.query import Query
from kraftops_cli.dump_log.plan import Plan, exit_code, open_target, write_head
from kraftops_cli.terminal.streams import Terminal

KNOWN = Source("t-0/0.log", "metadata", "t", 0, 0)
OTHER = Source("0.log", None, None, None, 1)


def plan(query: Query, output: str | None = None) -> Plan:
    return Plan(sources=(KNOWN, OTHER), query=query, output=output)


def test_directory_gives_the_decoder_of_its_files() -> None:
    asked = plan(Query())

    assert asked.query_of(KNOWN.path).decoder == "metadata"
    assert asked.query_of(OTHER.path).decoder is None


def test_option_wins_over_the_directory() -> None:
    assert plan(Query(decoder="user")).query_of(KNOWN.path).decoder == "user"


@pytest.mark.parametrize(
    ("events", "check", "code"),
    [
        pytest.param([], False, 0, id="nothing"),
        pytest.param(["finding"], False, 0, id="damage that Kafka's tool shows"),
        pytest.param(["failure"], False, 1, id="damage that ends Kafka's tool"),
        pytest.param([], True, 0, id="check: nothing"),
        pytest.param(["finding"], True, 2, id="check: damage"),
        pytest.param(["refusal"], True, 0, id="check: one of two files is unreadable"),
        pytest.param(["refusal", "refusal"], True, 1, id="check: all files are unreadable"),
    ],
)
def test_exit_code(events: list[str], check: bool, code: int) -> None:
    report = Report()
    for event in events:
        if event == "refusal":
            report.refusal(SourceError("cannot read it"))
        else:
            getattr(report, event)("0.log", 0, "reason")

    assert exit_code(plan(Query(check=check)), report) == code


def test_output_file_is_complete_and_has_the_head_of_the_format(tmp_path: Path) -> None:
    output = tmp_path / "rows.csv"
    asked = plan(Query(form="csv"), str(output))

    with open_target(asked, Terminal("kafka-dump-log")) as fd:
        write_head(asked, fd)
        os.write(fd, b"1\n")
        assert not output.exists()

    assert output.read_text() == asked.query.output_format.head + "1\n"
