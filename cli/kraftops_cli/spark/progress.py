"""Progress of a job of Spark, on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from kraftops_terminal.progress import Progress, Task
from kraftops_terminal.status import Status, is_seen

if TYPE_CHECKING:
    from kraftops.spark.session.job_progress import JobProgress


class SparkProgress:
    """Bar with the number of finished splits; a context manager that erases it at the end."""

    def __init__(self, status: Status) -> None:
        """Show nothing yet, and never if standard error is not a terminal."""
        self._status = status
        self._is_shown = is_seen(-1)
        self._progress: Progress | None = None
        self._task = Task(0, "splits")

    def __enter__(self) -> Self:
        if self._is_shown:
            self._status.show("Spark starts …")
        return self

    def __exit__(self, *_: object) -> None:
        self._status.erase()

    def show(self, state: JobProgress) -> None:
        """Show the progress; the time of Spark's start does not count."""
        if self._progress is None:
            self._progress = Progress(self._status, is_shown=self._is_shown)
            self._progress.add(self._task)
        self._task.total = state.total
        self._task.note = f"{state.running} running"
        self._progress.advance(self._task, state.done - self._task.done)
