"""Workers that die: the next try has what they had not, and what kills every one is damage."""

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.dump.query import Query
from kraftops.dump.sources import Source
from kraftops.spark import dump as dump_module
from kraftops.spark.counting import CountWork
from kraftops.spark.counting import count as count_splits
from kraftops.spark.dump import Outcome, Output, dump
from kraftops.spark.dumping import DumpWork, Written
from kraftops.spark.planning import Split, plan
from kraftops.spark.session import Session
from tests.rowlogs import parsed
from tests.segments import IN

LOG = str(IN / "meta/00000000000000000000.log")
VICTIM = 2

pytestmark = pytest.mark.spark


def tries() -> int:
    """Return how often the task was tried, in a worker."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    return context.attemptNumber()


@dataclass(frozen=True)
class Dying(DumpWork):
    """Kills its worker in the middle of a split, at the first of its tries or at all of them."""

    deaths: int = 1

    def _write(self, split: Split, attempt: int, *, is_lost: bool) -> Written:
        if split.number == VICTIM and not is_lost and tries() < self.deaths:
            name = self.target.attempt_name("part-00002", ".txt", attempt)
            with self.target.writing(name) as file:
                file.write(b"half of it")
                file.flush()
                os.kill(os.getpid(), signal.SIGKILL)
        return DumpWork._write(self, split, attempt, is_lost=is_lost)


@dataclass(frozen=True)
class DyingOften(Dying):
    """One that never survives it."""

    deaths: int = 1000


@dataclass(frozen=True)
class DyingCount(CountWork):
    """Kills its worker at every split of this number."""

    def __call__(self, splits: Iterable[Split]) -> Iterator[object]:  # type: ignore[override]
        for split in splits:
            if split.number == VICTIM and tries() < self.tries - 1:
                os.kill(os.getpid(), signal.SIGKILL)
            yield from CountWork.__call__(self, [split])


def splits_of(path: str) -> list[Split]:
    """Return a few splits."""
    return plan([Source(path, "metadata", None, None, 0)], 2, size=4000)


def run(
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    work: type[DumpWork],
    output: Path,
    form: str = "text",
) -> Outcome:
    """Dump with other work than usual."""
    monkeypatch.setattr(dump_module, "DumpWork", work)
    query = Query(decoder="metadata", deep_iteration=True, form=form)
    return dump(session, splits_of(LOG), query, Output(str(output)))


def test_worker_that_dies_once_costs_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(session, monkeypatch, DumpWork, tmp_path / "whole")

    outcome = run(session, monkeypatch, Dying, tmp_path / "out")

    names = sorted(os.listdir(tmp_path / "whole"))
    assert sorted(os.listdir(tmp_path / "out")) == names
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert not outcome.report.has_failed
    assert os.listdir(tmp_path) in (["whole", "out"], ["out", "whole"])


def test_split_that_kills_every_worker_is_a_row_of_damage(
    session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run(session, monkeypatch, DumpWork, tmp_path / "whole", "json")

    outcome = run(session, monkeypatch, DyingOften, tmp_path / "out", "json")

    victim = splits_of(LOG)[VICTIM].pieces[0].part
    lost = parsed((tmp_path / "out/part-00002.json").read_text())
    assert [(row["kind"], row["file"], row["position"]) for row in lost] == [
        ("damage", LOG, victim.start)
    ]
    assert (
        f"up to position {victim.stop} was not read: its worker died at 3 tries" in lost[0]["error"]
    )
    assert outcome.damaged == 1
    assert outcome.report.has_failed
    assert outcome.lines == [f"{LOG}: {lost[0]['error']}"]
    for name in os.listdir(tmp_path / "whole"):
        if name != "part-00002.json":
            assert (tmp_path / "out" / name).read_bytes() == (
                tmp_path / "whole" / name
            ).read_bytes()


def test_summary_counts_the_same_as_damage(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kraftops.spark import counting

    monkeypatch.setattr(counting, "CountWork", DyingCount)

    found = count_splits(session, splits_of(LOG), Query(decoder="metadata"))

    (summary,) = found.summaries.values()
    assert summary.as_dict()["damage"]["count"] == 1
