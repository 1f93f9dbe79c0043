"""Progress line of a job of Spark."""

from kraftops.spark.session.status_tracker import JobProgress
from kraftops_cli.spark.progress import progress_line


def test_progress() -> None:
    line = progress_line(JobProgress(3, 12, 2, 4_000_000, 1), 10.0)

    assert line == " 25%  3 of 12 splits, 2 running  400,000 records/s  1 damaged"
