"""find with workers that crash: the next try has the same answer, the last one reports it."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from kraftops.image.replay.limits import Limits
from kraftops.image.state.image import MetadataImage
from kraftops.spark.find.scan_job import SearchedLog
from kraftops.spark.find.search import search_log
from kraftops.spark.find.search_tasks import Line
from kraftops.spark.session.failures import SparkError
from kraftops.spark.session.session import Session
from kraftops_cli.metadata_shell.spark_find import printed
from kraftops_cli.metadata_shell.spark_find_task import Find, FindRequest
from tests.spark.dump.test_worker_crashes import tries
from tests.spark.find.test_search import LOG, at_once

pytestmark = pytest.mark.spark

SEARCHED = SearchedLog((LOG,), Limits(), "kafka")


@dataclass(frozen=True, slots=True)
class CrashingFind(Find):
    """Kills its worker in the middle of a shard, in the first *crashes* tries."""

    crashes: int = 1

    def of_image(self, image: MetadataImage, *, is_first: bool) -> Iterator[Line]:
        for number, line in enumerate(Find.of_image(self, image, is_first=is_first)):
            if number == 3 and tries() < self.crashes:
                os.kill(os.getpid(), signal.SIGKILL)
            yield line


def find(crashes: int) -> CrashingFind:
    request = FindRequest(LOG, None, None, "kafka", False, False, "")
    return CrashingFind(("find", "/"), request, crashes)


def kept(session: Session) -> tuple[int, list[str]]:
    """Return how many tables Spark holds, and the files of what was broadcast."""
    context = session.context
    return context._jsc.getPersistentRDDs().size(), sorted(os.listdir(context._temp_dir))


def test_shard_that_crashes_once_is_tried_again(session: Session) -> None:
    before = kept(session)

    result = search_log(session, SEARCHED, find(1))

    assert kept(session) != before
    assert list(printed(result, set())) == at_once(LOG, ["find", "/"], Limits())[0]
    assert kept(session) == before


def test_shard_that_crashes_at_every_try_is_an_error(session: Session) -> None:
    before = kept(session)

    with pytest.raises(SparkError) as error:
        search_log(session, SEARCHED, find(1000))

    assert kept(session) == before
    assert error.value.message == (
        f"{LOG}: not all of it was read: a worker died at each of 4 tries"
    )
    assert "spark.kraftops.groups" in str(error.value.hint)
