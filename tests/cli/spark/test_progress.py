"""Progress of a job of Spark."""

from kraftops.spark.session.status_tracker import JobProgress
from kraftops_cli.spark.progress import note_of


def test_note_has_splits_records_and_damage() -> None:
    note = note_of(JobProgress(3, 12, 2, 4_000_000, 1), 10.0)

    assert note == "2 running  400,000 records/s  1 damaged"
