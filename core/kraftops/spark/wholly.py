"""Jobs that must read all of a log: where a worker dies at every try, there is no answer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kraftops.spark.failures import SparkError
from kraftops.spark.jobs import cancelled_by_keys
from kraftops.spark.session import Session

_LOST = re.compile(r"Python worker exited|ExecutorLost|[Ll]ost executor|[Ee]xecutor .*exited")


@contextmanager
def wholly(session: Session, names: Sequence[str]) -> Iterator[None]:
    """Run jobs that read a log, such that Ctrl-C ends them all.

    Raises:
        SparkError: a job failed; it says so if workers died of it.
        KeyboardInterrupt: Ctrl-C; no task runs any more.
    """
    try:
        with cancelled_by_keys(session):
            yield
    except SparkError as error:
        if not _LOST.search(error.message):
            raise
        tries = session.settings.tries
        raise SparkError(
            f"{', '.join(names)}: not all of it was read: a worker died at each of {tries} tries",
            hint="if they lack memory, more groups take less: --conf spark.kraftops.groups=1000",
        ) from error
