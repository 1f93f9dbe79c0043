"""Answers to SQL as a table, as rows in a form, or in a directory; no Spark is started."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.query.query import Query
from kraftops.spark.dump.targets import Target
from kraftops_cli.dump_log.on_spark import sql
from kraftops_cli.dump_log.on_spark.job import SparkJob
from kraftops_cli.dump_log.on_spark.sql import run_partitioned, run_sql
from kraftops_cli.dump_log.plan import Plan
from kraftops_cli.spark.options import SparkRequest
from kraftops_terminal.console import Console

Rows = Sequence[list[Any]]


class Output:
    """The streams of a terminal in memory."""

    def __init__(self) -> None:
        self.text = ""
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        self.text += text

    @property
    def console(self) -> Console:
        return Console(self.write, -1, is_terminal=False, environment={})

    def line(self, text: str) -> None:
        self.lines.append(text)

    def shown(self, text: str) -> str:
        return text


def job(
    output: Output, query: Query | None = None, path: Path | None = None, **request: Any
) -> Any:
    plan = Plan(sources=(), query=query or Query(), output=str(path) if path else None)
    progress: Any = None
    terminal: Any = output
    session: Any = SimpleNamespace()
    return SparkJob(
        plan, iter(()), [], SparkRequest(**request), session, [], progress, terminal, 0.0
    )


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Output]:
    """Return a function from the rows of an answer to what is printed."""

    def answer(columns: list[str], rows: Rows, form: str = "text") -> Output:
        monkeypatch.setattr(sql, "log_table", lambda *_: None)
        monkeypatch.setattr(sql, "answer", lambda *_: SimpleNamespace(columns=columns))
        monkeypatch.setattr(sql, "rows_of", lambda _, **__: iter(rows))
        monkeypatch.setattr(sql, "json_lines", lambda _: (json.dumps(row) for row in rows))
        output = Output()
        assert run_sql(job(output, Query(form=form)), "SELECT 1") == 0
        return output

    return answer


def test_table_aligns_numbers_to_the_right(answered: Callable[..., Output]) -> None:
    output = answered(["name", "n"], [["a", 5], ["bb", 100], [None, None]])

    assert [line.rstrip() for line in output.text.splitlines()] == [
        "name    n",
        "a       5",
        "bb    100",
        "",
    ]
    assert output.lines == []


def test_table_shows_values_as_plain_text(answered: Callable[..., Output]) -> None:
    output = answered(["v"], [[True], ["tab\there"], ["x" * 99]])

    assert output.text.split("\n")[1:-1] == ["true", "tab\\there", "x" * 80]


def test_table_ends_after_a_thousand_rows(answered: Callable[..., Output]) -> None:
    output = answered(["n"], [[number] for number in range(1001)])

    assert output.text.split()[-1] == "999"
    assert output.lines == ["the first 1,000 rows; --format or --output has all"]


def test_json_has_all_rows(answered: Callable[..., Output]) -> None:
    output = answered(["n"], [[number] for number in range(1001)], "json")

    assert [json.loads(line) for line in output.text.splitlines()] == [[n] for n in range(1001)]


def test_csv_quotes_and_has_the_names(answered: Callable[..., Output]) -> None:
    output = answered(["a", "a"], [['x"y', None], ["1,2", False]], "csv")

    assert output.text == 'a,a\n"x""y",\n"1,2",false\n'


def test_columns_of_the_same_name_are_no_json(answered: Callable[..., Output]) -> None:
    with pytest.raises(UsageError, match="several columns are called 'a'"):
        answered(["a", "a"], [], "json")


class TestDirectories:
    @pytest.fixture(autouse=True)
    def _no_spark(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sql, "log_table", lambda *_: None)
        monkeypatch.setattr(sql, "answer", lambda *_: None)

    def test_answer_is_written_whole(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        forms = []

        def write(_: object, target: Target, form: str) -> None:
            forms.append(form)
            with target.writing("part-00000.json") as file:
                file.write(b"{}\n")

        monkeypatch.setattr(sql, "write_table", write)
        output = Output()

        assert run_sql(job(output, path=tmp_path / "out"), "SELECT 1") == 0

        assert (tmp_path / "out" / "part-00000.json").read_bytes() == b"{}\n"
        assert forms == ["json"]  # of text, there are no tables
        assert output.lines[0].startswith("written in ")

    def test_failed_answer_leaves_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def write(_: object, target: Target, __: str) -> None:
            with target.writing("part-00000.json") as file:
                file.write(b"{}\n")
            raise UsageError("no")

        monkeypatch.setattr(sql, "write_table", write)

        with pytest.raises(UsageError):
            run_sql(job(Output(), path=tmp_path / "out"), "SELECT 1")

        assert os.listdir(tmp_path) == []

    @pytest.mark.parametrize(
        ("check", "errors", "damaged", "code"),
        [(False, 0, 0, 0), (False, 2, 0, 0), (False, 2, 1, 2), (True, 2, 0, 2), (True, 0, 0, 0)],
    )
    def test_exit_code_and_text_of_damage(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        check: bool,
        errors: int,
        damaged: int,
        code: int,
    ) -> None:
        counts = SimpleNamespace(records=1234, damaged=damaged, errors=errors)
        monkeypatch.setattr(sql, "write_log", lambda *_: counts)
        output = Output()
        query = Query(form="json", check=check)

        assert run_partitioned(job(output, query, tmp_path / "out", partition_by="type")) == code

        assert output.lines[0].startswith("1,234 records")
        assert ("damaged" in output.lines[0]) is bool(errors)
