"""find with workers that crash: the next try has the same answer, the last one reports it."""

import os
import signal
from dataclasses import dataclass
from typing import IO

import pytest

from kraftops.spark.jobs.text_of_worker import run_for_text
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.session import Session
from tests.spark.dump.test_worker_crashes import tries

pytestmark = pytest.mark.spark

LINE = b"line %07d of a text that is longer than what goes to the driver at a time\n"
LINES = 100_000


@dataclass(frozen=True, slots=True)
class CrashingWork:
    """Kills its worker in the midst of a text, in the first *crashes* tries."""

    crashes: int = 1

    def __call__(self, out: IO[bytes]) -> str:
        for number in range(LINES):
            out.write(LINE % number)
            if number == LINES // 2 and tries() < self.crashes:
                os.kill(os.getpid(), signal.SIGKILL)
        return "the result"


def kept(session: Session) -> int:
    """Return how many tables Spark holds."""
    size: int = session.jobs.context._jsc.getPersistentRDDs().size()
    return size


def test_work_that_crashes_once_is_tried_again(session: Session) -> None:
    before = kept(session)

    result, chunks = run_for_text(session, ["log"], CrashingWork())

    assert result == "the result"
    assert kept(session) > before
    assert b"".join(chunks) == b"".join(LINE % number for number in range(LINES))
    assert kept(session) == before


def test_work_that_crashes_at_every_try_is_an_error(session: Session) -> None:
    before = kept(session)

    with pytest.raises(SparkError) as error:
        run_for_text(session, ["log"], CrashingWork(1000))

    assert kept(session) == before
    assert error.value.message == "log: not all of it was read: a worker died at each of 4 tries"
    assert "memory" in str(error.value.hint)
