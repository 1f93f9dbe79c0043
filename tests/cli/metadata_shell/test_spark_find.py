"""find on Spark prints each line once, and refuses wrong words before Spark is started."""

from types import SimpleNamespace
from typing import Any

import pytest

from kraftops.findings.finding import Place
from kraftops.image.state.findings import DAMAGE, log_finding
from kraftops.spark.find.search import SearchResult
from kraftops_cli.metadata_shell import spark_find
from kraftops_cli.metadata_shell.spark_find import printed, run_find
from kraftops_cli.metadata_shell.spark_find_task import MATCHED, FindRequest
from kraftops_cli.spark.options import SparkRequest
from tests.helpers.logs.segments import IN

LOG = str(IN / "meta/00000000000000000000.log")
OURS = FindRequest(LOG, None, None, "kafka", False, False, "1")
KAFKAS = OURS._replace(is_kafka=True)


class Streams:
    """The streams of a terminal in memory."""

    is_json = keeps_kafka_codes = False
    status = None
    shown = staticmethod(str)

    def __init__(self) -> None:
        self.text = ""
        self.lines: list[str] = []

    def write(self, text: str) -> None:
        self.text += text

    def line(self, text: str) -> None:
        self.lines.append(text)


class Search:
    """A search on Spark with a known result, and its arguments."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, result: SearchResult) -> None:
        self.asked: list[Any] = []
        self.found_findings: list[bool] = []
        progress = SimpleNamespace(show=None)

        def search(_: object, log: object, find: object, **options: Any) -> SearchResult:
            self.asked.append(log)
            self.found_findings.append(options["with_findings"])
            return result

        monkeypatch.setattr(spark_find, "search_log", search)
        monkeypatch.setattr(spark_find, "SparkProgress", lambda _: _Entered(progress))
        monkeypatch.setattr(spark_find, "started", lambda _: _Entered(None))
        for name in ("warn_if_slow", "warn_if_small"):
            monkeypatch.setattr(spark_find, name, lambda *_: None)


class _Entered:
    def __init__(self, value: object) -> None:
        self._value = value

    def __enter__(self) -> object:
        return self._value

    def __exit__(self, *_: object) -> None:
        pass


def run(*words: str, request: FindRequest = OURS) -> tuple[int, Streams]:
    streams = Streams()
    terminal: Any = streams
    return run_find(words, request, SparkRequest(), terminal), streams


def result(*lines: tuple[bytes, bytes]) -> SearchResult:
    return SearchResult(iter(lines), [], 0)


def test_line_of_several_shards_is_printed_once() -> None:
    matched: set[int] = set()
    lines = [
        (b"0", MATCHED + b"0"), (b"0", MATCHED + b"0"), (b"1", b"/a"), (b"1", b"/a"),
        (b"2", b"/a"), (b"2", MATCHED + b"3"),
    ]  # fmt: skip

    assert list(printed(result(*lines), matched)) == ["/a", "/a"]
    assert matched == {0, 3}


@pytest.mark.parametrize(
    "words", [("find", "/", "-maxdepth", "x"), ("find", "/", "-type", "q"), ("find", "-newer-than")]
)
@pytest.mark.parametrize("request_", [OURS, KAFKAS])
def test_wrong_words_are_refused_without_spark(
    words: tuple[str, ...], request_: FindRequest
) -> None:
    if request_.is_kafka:
        words = ("find", "--no-such-option")

    code, streams = run(*words, request=request_)

    assert code == (0 if request_.is_kafka else 1)
    assert bool(streams.text) is request_.is_kafka
    assert bool(streams.lines) is not request_.is_kafka


def test_target_that_no_shard_has_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    Search(monkeypatch, result((b"", MATCHED + b"0"), (b"1", b"/image")))

    code, streams = run("find", "/image", "/nowhere")

    assert (code, streams.text) == (1, "/image\n")
    assert streams.lines == ["find: /nowhere: no such file or directory."]


def test_damage_of_the_log_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = log_finding(DAMAGE, "bad", Place(file=LOG, position=7))
    Search(monkeypatch, SearchResult(iter([(b"", MATCHED + b"0")]), [finding], 0))

    code, streams = run("find", "/image")

    assert code != 0
    assert any("bad" in line for line in streams.lines)


@pytest.mark.parametrize(
    ("target", "with_findings"),
    [("/", True), ("/local", True), ("/l*", True), ("/image", False), ("/local/findings/0", True)],
)
def test_findings_are_searched_only_where_they_may_be(
    monkeypatch: pytest.MonkeyPatch, target: str, with_findings: bool
) -> None:
    search = Search(monkeypatch, result((b"", MATCHED + b"0")))

    run("find", target)

    assert search.found_findings == [with_findings]


@pytest.mark.parametrize(("words", "is_asked"), [((), False), (("-newer-than", "5"), True)])
def test_prior_state_is_read_only_for_tests_of_age(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], is_asked: bool
) -> None:
    search = Search(monkeypatch, result((b"", MATCHED + b"0")))

    run("find", "/", *words)

    assert search.asked[0].with_prior_state is is_asked
