"""The plan of a dump: sources, query and output, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass

from kraftops.dump.report import Report
from kraftops.dump.sources.names import Source
from kraftops.query.query import Query

DAMAGED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The sources of a dump, the query, and the options of its output."""

    sources: tuple[Source, ...]
    query: Query
    output: str | None = None
    jobs: int | None = None
    limit: int | None = None
    tail: int | None = None
    summary: bool = False
    follow: bool = False

    def query_of(self, path: str) -> Query:
        """Return the query of a source: with the decoder of its directory, if it has one."""
        decoder = next((one.decoder for one in self.sources if one.path == path), None)
        return self.query.for_source(decoder)


def exit_code(plan: Plan, report: Report) -> int:
    """Return the exit code of a dump: Kafka's, or the one of `--check`."""
    if not plan.query.check:
        return 1 if report.has_failed else 0
    if report.refused and report.refused >= len(plan.sources):
        return 1
    return DAMAGED if report.has_damage else 0
