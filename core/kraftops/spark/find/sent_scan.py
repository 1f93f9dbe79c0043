"""Result of the scan of a log, sent to workers as a file: it may be too large for each task."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from tempfile import TemporaryDirectory
from uuid import uuid4

from kraftops.spark.find.scan_job import LogScan
from kraftops.spark.session.failures import job_errors
from kraftops.spark.session.session import Session
from kraftops.spark.session.shipping import sent_file


@dataclass(frozen=True)
class ScanFile:
    """File with the result of a scan: a path of this machine, or a name that Spark knows."""

    path: str

    @property
    def value(self) -> LogScan:
        """The result; a worker keeps it for its next task."""
        return _read(self.path)


@contextmanager
def sent(session: Session, scan: LogScan) -> Iterator[ScanFile]:
    """Send a result to all workers; on this machine, its file is deleted at the end."""
    with TemporaryDirectory() as directory:
        path = os.path.join(directory, f"scan-{uuid4().hex}")
        with open(path, "wb") as file:
            pickle.dump(scan, file)
        if session.settings.is_local:
            yield ScanFile(path)
            return
        with job_errors("the scan cannot be sent to the workers"):
            session.spark.addArtifacts(path, file=True)
        yield ScanFile(os.path.basename(path))


@lru_cache(1)
def _read(path: str) -> LogScan:
    with open(path if os.path.isabs(path) else sent_file(path), "rb") as file:
        scan: LogScan = pickle.load(file)  # noqa: S301 - written by `sent`
    return scan
