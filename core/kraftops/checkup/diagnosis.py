"""What `kraftops doctor` answers: a verdict, findings by severity, and what was looked at."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kraftops.answers.fields import Answer, parts, text
from kraftops.checkup.checks import CheckRun, Status
from kraftops.checkup.copies_check import with_intact_copies
from kraftops.checkup.examination import Examination
from kraftops.checkup.joining import joined
from kraftops.display import quoting
from kraftops.display.columns import Column, Styled, folded
from kraftops.display.sizes import many, named
from kraftops.errors import CODES
from kraftops.findings.answer import FINDINGS
from kraftops.findings.aside import typed
from kraftops.findings.finding import (
    BAD_ARCHIVE,
    HAS_FINDINGS,
    Finding,
    counts_text,
    doubted,
    exit_code,
)
from kraftops.image.verify.directories import NOT_GIVEN
from kraftops.image.verify.loading import NOT_FORETOLD

_OF_UNREAD = (NOT_FORETOLD, NOT_GIVEN)
_PLACEHOLDER = re.compile(r"(-b|-C|--bootstrap-server) HOST:PORT")
_BY_EITHER = ("kafka-cluster problems ", "kafka-cluster controllers ")
"""Commands that ask brokers or controllers."""
_STYLES = {Status.DONE: "good", Status.SKIPPED: "muted"}


@dataclass(frozen=True, slots=True)
class Selection:
    """The codes that are wanted: *only* these, if there are any, without those to *skip*.

    *baseline* has the places of findings that are known already, by `identity`.
    """

    only: Collection[str] = ()
    skip: Collection[str] = ()
    baseline: Collection[tuple[object, ...]] = ()

    def takes(self, finding: Finding) -> bool:
        if self.only and finding.code not in self.only:
            return False
        return finding.code not in self.skip and identity(finding) not in self.baseline


def identity(finding: Finding) -> tuple[object, ...]:
    """Return what makes a finding the same one as before: not its numbers, which change."""
    place = finding.place
    return finding.code, place.node, place.directory, place.topic, place.partition, place.file


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """The findings, the worst first, and the checks that were made.

    *omitted* is the number of findings that are not wanted, or known by a baseline; *scope* says
    of which nodes alone the verdict is, *clusters* of how many clusters they are.
    """

    findings: Sequence[Finding]
    runs: Sequence[CheckRun]
    omitted: int = 0
    scope: str = ""
    clusters: int = 1

    def __repr__(self) -> str:
        return "\n".join([f"Diagnosis: {self.verdict}", *map(str, self.findings)])

    @property
    def verdict(self) -> str:
        """What is the case, in a line."""
        failed = [run for run in self.runs if run.has_failed]
        done = sum(run.status is Status.DONE for run in self.runs)
        prefix = f"these are {self.clusters} clusters, to name apart: " if self.clusters > 1 else ""
        prefix += "incomplete: " if self.is_incomplete and done else ""
        severe = [finding for finding in self.findings if finding.is_severe]
        suffix = f"; {many(self.omitted, 'finding')} not shown" if self.omitted else ""
        partial = [run for run in self.runs if run.lacks_files]
        unmade = len(failed) + sum(run.status is Status.SKIPPED for run in partial)
        suffix += f"; {many(unmade, 'check')} could not be made" if unmade else ""
        names = ", ".join(run.check.name for run in partial if run.status is Status.DONE)
        suffix += f"; not of all nodes: {names}" if names else ""
        if not severe:
            notes = f", {many(count, 'note')}" if (count := len(self.findings)) else ""
            if failed and not done:
                return f"nothing could be examined: {failed[0].reason}"
            nothing = "nothing else is wrong" if self.omitted else "nothing is wrong"
            limits = " in what was examined" if self.is_incomplete and done else ""
            return (
                f"{prefix}{nothing}{self.scope}{limits}: {many(done, 'check')} done{notes}{suffix}"
            )
        first = f"first: {severe[0]} [{severe[0].code}]"
        return f"{prefix}{counts_text(severe)}; {first}{suffix}"

    @property
    def is_incomplete(self) -> bool:
        """Whether something may be wrong that was not looked at: a check failed, or read a part."""
        is_unread = any(finding.code in _OF_UNREAD for finding in self.findings)
        return is_unread or any(run.has_failed for run in self.runs)

    @property
    def exit_code(self) -> int:
        """2 with a finding worse than a note, or if it is incomplete; 1 or 5 if all have failed."""
        if code := exit_code(self.findings):
            return code
        failed = [run for run in self.runs if run.has_failed]
        if not failed:
            return HAS_FINDINGS if self.is_incomplete else 0
        if any(run.status is Status.DONE for run in self.runs):
            return HAS_FINDINGS
        return CODES["no-answer" if failed[0].is_unreachable else "unreadable"].exit_code


def diagnosis_of(
    examination: Examination, runs: Iterable[CheckRun], selection: Selection
) -> Diagnosis:
    """Join the findings of checks."""
    fill = partial(_addressed, _addresses(examination))  # before a check gives one up
    runs = list(runs)
    # Only then can the nodes be asked for again without waiting for a disk.
    was_read = any(run.check.name == "start" and run.status is Status.DONE for run in runs)
    nodes = {
        # Findings spell a directory as it was named, or as Java writes it.
        path: node.config.node_id
        for node in (examination.nodes if was_read else ())
        for directory in node.directories
        for path in (directory.path, directory.java_path)
    }

    def node_of(path: str) -> int | None:
        return next((id_ for top, id_ in nodes.items() if f"{path}/".startswith(f"{top}/")), None)

    findings = [finding for run in runs for finding in run.findings]
    torn = [finding for finding in findings if finding.code == BAD_ARCHIVE]
    findings = [doubted(finding, torn) if finding.is_severe else finding for finding in findings]
    was_compared = any(run.check.name == "copies" and run.status is Status.DONE for run in runs)
    if was_compared:
        findings = with_intact_copies(findings, examination)
    causes = joined((_runnable(finding, fill) for finding in findings), node_of)
    selected = [cause for cause in causes if selection.takes(cause)]
    scope = ""
    if was_read and (voters := examination.voters_not_given):
        ids = [node.config.node_id for node in examination.nodes]
        scope = f" with {named('node', ids)} ({named('voter', voters)} not given)"
    clusters = len(examination.clusters) if was_read else 1
    return Diagnosis(selected, runs, len(causes) - len(selected), scope, clusters)


def _runnable(finding: Finding, fill: Callable[[str], str]) -> Finding:
    """Fill addresses into a finding's commands, and name archives instead of paths in them."""
    return typed(replace(finding, commands=tuple(map(fill, finding.commands))))


def _addresses(examination: Examination) -> dict[str, str]:
    """Map -b and -C to quoted addresses, for commands that can be pasted."""
    access = examination.access
    named = {"-b": access.brokers, "-C": access.controllers} if access else {}
    return {
        option: quoting.quote(",".join(str(bootstrap.address) for bootstrap in endpoints.bootstrap))
        for option, endpoints in named.items()
        if endpoints
    }


def _addressed(addresses: Mapping[str, str], command: str) -> str:
    """Replace HOST:PORT in a command by the addresses on the command line."""

    def option(match: re.Match[str]) -> str:
        name = "-b" if match[1] == "--bootstrap-server" else match[1]
        if name not in addresses and command.startswith(_BY_EITHER):
            return next((" ".join(named) for named in addresses.items()), match[0])
        return f"{match[1]} {addresses[name]}" if name in addresses else match[0]

    return _PLACEHOLDER.sub(option, command)


CHECK = (
    text("check", "its name", column=Column("CHECK", style="name"), get="check.name"),
    text("title", "what it looks for", column=folded("LOOKS FOR", 1), get="check.title"),
    text("status", "done; skipped: nothing to look at; failed; given-up: it took too long",
         values=[str(status) for status in Status], column="STATUS",
         cell=lambda run: Styled(str(run.status), _STYLES.get(run.status, "bad"))),
    text("reason?", "why it was not done, or what it leaves out", column=folded("REASON")),
)  # fmt: skip
DOCTOR = Answer(
    (
        text("verdict", "what is wrong, in one line"),
        FINDINGS,
        parts("checks", "what was looked at", CHECK, get="runs"),
    )
)
