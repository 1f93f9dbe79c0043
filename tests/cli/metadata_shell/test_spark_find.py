"""find on Spark prints what a worker has found, and refuses wrong words before Spark is started."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.errors import KraftopsError, SourceError
from kraftops.findings.finding import Place
from kraftops.image.state.findings import DAMAGE, log_finding
from kraftops.spark.jobs.text_of_worker import WorkerText
from kraftops_cli.metadata_shell import spark_find
from kraftops_cli.metadata_shell.request import ShellRequest
from kraftops_cli.metadata_shell.spark_find import run_find
from kraftops_cli.metadata_shell.spark_find_task import FindOutcome
from kraftops_cli.spark.options import SparkRequest
from tests.helpers.logs.segments import IN

LOG = str(IN / "meta/00000000000000000000.log")
OURS = ShellRequest(LOG, (), False, None, None, None, "kafka", False, False, False)
KAFKAS = replace(OURS, is_kafka=True)


class Streams:
    """The streams of a terminal in memory."""

    is_json = has_kafkas_form = is_escaping = False
    status = None
    shown = staticmethod(str)

    def __init__(self) -> None:
        self.text = ""
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        self.text += text

    def line(self, text: str) -> None:
        self.lines.append(text)


def answered(patch: pytest.MonkeyPatch, outcome: object, chunks: Sequence[bytes] = ()) -> None:
    """Have a worker answer find."""
    progress = SimpleNamespace(show=None)
    patch.setattr(spark_find, "run_for_text", lambda *_: WorkerText(outcome, iter(chunks)))
    patch.setattr(spark_find, "SparkProgress", lambda _: _Entered(progress))
    patch.setattr(spark_find, "started", lambda _: _Entered(None))
    for name in ("warn_if_slow", "warn_if_small"):
        patch.setattr(spark_find, name, lambda *_: None)


class _Entered:
    def __init__(self, value: object) -> None:
        self._value = value

    def __enter__(self) -> object:
        return self._value

    def __exit__(self, *_: object) -> None:
        pass


def run(*words: str, request: ShellRequest = OURS) -> tuple[int, Streams]:
    streams = Streams()
    terminal: Any = streams
    return run_find(replace(request, words=words), SparkRequest(), terminal), streams


@pytest.mark.parametrize(
    "words", [("find", "/", "-maxdepth", "x"), ("find", "/", "-type", "q"), ("find", "-newer-than")]
)
@pytest.mark.parametrize("request_", [OURS, KAFKAS])
def test_wrong_words_are_refused_without_spark(
    words: tuple[str, ...], request_: ShellRequest
) -> None:
    if request_.is_kafka:
        words = ("find", "--no-such-option")

    code, streams = run(*words, request=request_)

    assert code == (0 if request_.is_kafka else 1)
    assert bool(streams.text) is request_.is_kafka
    assert bool(streams.lines) is not request_.is_kafka


def test_lines_and_errors_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = "find: /nowhere: no such file or directory."
    answered(
        monkeypatch,
        FindOutcome(1, [missing], KraftopsError(missing), [], 0),
        [b"/image\n", b"/image/topics\n"],
    )

    code, streams = run("find", "/image", "/nowhere")

    assert (code, streams.text) == (1, "/image\n/image/topics\n")
    assert streams.lines == [missing]


def test_the_memory_of_the_state_is_told_before(monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, FindOutcome(0, [], None, [], 0))
    monkeypatch.setattr(spark_find, "total_size", lambda _: 1 << 30)

    (line,) = run("find", "/")[1].lines

    assert line == "one worker holds the state of the log, in 1.1 GiB of memory at most"


def test_damage_of_the_log_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = log_finding(DAMAGE, "bad", Place(file=LOG, position=7))
    answered(monkeypatch, FindOutcome(0, [], None, [finding], 2))

    code, streams = run("find", "/image")

    assert code != 0
    assert any("bad" in line for line in streams.lines)
    assert any("2 records could not be applied" in line for line in streams.lines)


def test_a_log_that_cannot_be_read_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, SourceError("cannot read it"))

    with pytest.raises(SourceError, match="cannot read it"):
        run("find", "/image")
