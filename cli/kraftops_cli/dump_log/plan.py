"""The plan of a dump: its sources, query and output, and functions for all modes."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import cached_property

from kraftops.dump.report import Refusal, Report
from kraftops.dump.sources.names import Source
from kraftops.fileio.mounts import archive_of
from kraftops.fileio.output import OutputFlags, open_output
from kraftops.fileio.writing import write_all
from kraftops.query.query import Query
from kraftops.query.summary_order import BY_NAME
from kraftops_cli.terminal.failure import Failure, conclude, failure_of
from kraftops_cli.terminal.streams import Terminal

DAMAGED = 2  # the exit code of a reading that damage cut short


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The sources, the query, and the options about the output."""

    sources: tuple[Source, ...]
    query: Query
    output: str | None = None
    overwrite: bool = False
    jobs: int | None = None
    limit: int | None = None
    tail: int | None = None
    summary: bool = False
    logs: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    sort: str = BY_NAME
    top: int | None = None
    follow: bool = False

    @property
    def has_limit(self) -> bool:
        """Whether only the first or last records are written."""
        return self.limit is not None or self.tail is not None

    @property
    def output_flags(self) -> OutputFlags:
        """Whether an earlier output is replaced, and who may read the new one."""
        return OutputFlags(self.overwrite, self.query.show_secrets)

    @property
    def paths(self) -> list[str]:
        """The paths of the sources, in order."""
        return [source.path for source in self.sources]

    @property
    def files(self) -> list[str]:
        """The files that are read, of archives of directories the archives."""
        names = (archive_of(path) or path for path in self.paths)
        return list(dict.fromkeys(names))

    @property
    def decoders(self) -> frozenset[str]:
        return self.query.decoders(source.decoder for source in self.sources)

    def query_of(self, path: str) -> Query:
        """Return the query of a source, with the decoder of its directory by default."""
        decoder = self._decoders.get(path)
        if self.query.filter.topics:
            return self.query.for_source(decoder, path)
        return self._queries[decoder]

    @cached_property
    def _queries(self) -> dict[str | None, Query]:
        """The queries by the decoders of sources: there may be thousands of small files."""
        decoders = {None, *self._decoders.values()}
        return {decoder: self.query.for_source(decoder) for decoder in decoders}

    @cached_property
    def _decoders(self) -> dict[str, str | None]:
        """The decoders of the sources by their paths; of equal paths, the first one's."""
        return {source.path: source.decoder for source in reversed(self.sources)}


def show_lines(terminal: Terminal, lines: Iterable[str]) -> None:
    """Write lines of reports to standard error."""
    for line in lines:
        if isinstance(line, Refusal):
            terminal.error(line)
        else:
            terminal.line(line)


@dataclass(frozen=True, slots=True)
class Run:
    """A running plan, with its terminal and report."""

    plan: Plan
    terminal: Terminal
    report: Report

    def flush_report(self) -> None:
        """Write the lines of the report since the last call."""
        show_lines(self.terminal, self.report.take_lines())

    def exit_code(self) -> int:
        """Return the exit code of the dump so far.

        With `--format json`, a failure is an object after the rows.
        """
        code = exit_code(self.plan, self.report)
        if code not in (0, DAMAGED) and self.terminal.is_json:
            return conclude(self.terminal, _failure_of(self.plan, self.report))
        return code


def _failure_of(plan: Plan, report: Report) -> Failure:
    """Make the JSON failure of a dump that could not read a file."""
    assert report.first_refusal  # damage alone is not a failure
    failure = failure_of(report.first_refusal)
    if report.refused < len(plan.sources):  # the others are dumped
        failure = replace(failure, code="unreadable", exit_code=1)
    return failure


def exit_code(plan: Plan, report: Report) -> int:
    """Return the exit code of a dump: Kafka's for its text, else 2 for damage."""
    query = plan.query
    if not query.check:
        is_ours = query.skip_invalid or plan.summary or not query.output_format.is_text
        is_ours |= report.is_cut_short
        if is_ours and report.has_damage and not report.refused:
            return DAMAGED
        return 1 if report.has_failed else 0
    if report.refused and report.refused >= len(plan.sources):
        return 1
    return DAMAGED if report.has_damage else 0


def open_target(plan: Plan, terminal: Terminal) -> AbstractContextManager[int]:
    """Yield the file descriptor of the output file, or of standard output."""
    if plan.output is None:
        return terminal.data_fd(is_csv=bool(plan.query.output_format.head))
    return open_output(plan.output, plan.files, plan.output_flags)


def write_head(plan: Plan, fd: int) -> None:
    """Write the first line of the output, if the format has one."""
    write_all(fd, plan.query.output_format.head.encode())
