"""The finding: something wrong with the data, its severity, place, evidence and cure.

An error (`kraftops.errors`) is something wrong with the request.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple, Self

from kraftops.display.sizes import many
from kraftops.fileio.reading import is_forbidden


class Severity(StrEnum):
    """What a finding means for the operator; the worst comes first."""

    LOSS = "loss"
    """Records or metadata are lost, or the next start will lose them."""
    STOPS = "stops"
    """A server will not start, or not join."""
    RISK = "risk"
    """It works now, and hurts at the next failure or start."""
    NOTE = "note"
    """Nothing has to be done; what a start mends without loss is a note."""


HAS_FINDINGS = 2
"""Exit code of an answer with a finding that is worse than a note."""
BAD_ARCHIVE = "bad-archive"
_COUNTED = {
    Severity.LOSS: ("loss", "losses"),
    Severity.STOPS: ("stop", "stops"),
    Severity.RISK: ("risk", "risks"),
    Severity.NOTE: ("note", "notes"),
}
_RANKS = {severity: rank for rank, severity in enumerate(Severity)}


class Evidence(NamedTuple):
    """A fact that a finding rests on, and where it comes from."""

    source: str
    fact: str

    def __str__(self) -> str:
        return f"{self.source}: {self.fact}"


class Stake(NamedTuple):
    """Records (None: they cannot be counted) and bytes of records that a finding is about."""

    records: int | None
    bytes: int

    def __str__(self) -> str:
        records = "records that cannot be counted"
        if self.records is not None:
            records = many(self.records, "record")
        return f"{records}, {many(self.bytes, 'byte')}"


class Cure(NamedTuple):
    """What to do, and commands for it that can be pasted into a shell."""

    text: str
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Place:
    """Where a finding is, as far as that is known.

    *directory* is a log directory and *file* a path; *position* is in bytes, *time* in
    milliseconds since 1970. *address* is that of a record in the image that was read.
    """

    node: int | None = None
    directory: str | None = None
    topic: str | None = None
    partition: int | None = None
    file: str | None = None
    position: int | None = None
    offset: int | None = None
    time: int | None = None
    address: int | None = None

    @property
    def path(self) -> str:
        """The path of the file, else of the directory; empty for the whole cluster."""
        return self.file or self.directory or ""

    @property
    def partition_name(self) -> str:
        """Topic and partition, as in the name of a partition's directory."""
        return f"{self.topic}-{self.partition}"

    def __str__(self) -> str:
        parts = [self.path] if self.path else []
        if self.offset is not None:
            parts.append(f"offset {self.offset}")
        if self.position is not None:
            parts.append(f"position {self.position}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong with the data.

    Attributes:
        code: its row in the catalogue.
        severity: what it means.
        text: one sentence.
        place: where it is.
        cure: what to do, and *commands* for it that can be pasted into a shell.
        evidence: the facts that it rests on.
        consequence: what follows, and for whom.
        count: how many times the same cause was seen.
        stake: the records and bytes that it is about.
        is_possible: whether some evidence was set aside, so that it need not be true.
    """

    code: str
    severity: Severity
    text: str
    place: Place = Place()
    cure: str = ""
    commands: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    consequence: str = ""
    count: int = 1
    stake: Stake | None = None
    is_possible: bool = False

    def __str__(self) -> str:
        place = str(self.place)
        text = f"{place}: {self.text}" if place else self.text
        return f"{text} (and {self.count - 1} more like it)" if self.count > 1 else text

    @property
    def is_severe(self) -> bool:
        """Whether it is worse than a note."""
        return self.severity is not Severity.NOTE

    @property
    def remedy(self) -> str:
        """The cure and its commands, in one line."""
        return ": ".join(filter(None, (self.cure, "; ".join(self.commands))))

    def moved(self, **place: object) -> Self:
        """Return the finding with some fields of its place replaced."""
        return replace(self, place=replace(self.place, **place))  # type: ignore[arg-type]


def stop_finding(
    code: str, text: str, place: Place, cure: str = "", commands: tuple[str, ...] = ()
) -> Finding:
    """Return a finding that keeps a server from starting or joining."""
    return Finding(code, Severity.STOPS, text, place, cure, commands)


def note_finding(
    code: str, text: str, place: Place, cure: str = "", commands: tuple[str, ...] = ()
) -> Finding:
    """Return a finding that keeps no server from starting."""
    return Finding(code, Severity.NOTE, text, place, cure, commands)


def unless_forbidden(finding: Finding, path: str) -> Finding:
    """Return a finding about a file, which may be sound if this user may not read it."""
    if not is_forbidden(path):
        return finding
    cure = "give the permission to read it, or run this command as the user of the server"
    return replace(finding, cure=cure, commands=(), is_possible=True)


def doubted(finding: Finding, torn: Iterable[Finding]) -> Finding:
    """Mark a finding as possible: it may only be due to the missing rest of a *torn* archive."""
    archives = [(archive.place.path.partition("!/")[0], archive.text) for archive in torn]
    evidence = tuple(
        Evidence(path, text) for path, text in archives if finding.place.path.startswith(f"{path}!")
    )
    if not evidence:
        return finding
    return replace(finding, is_possible=True, evidence=(*finding.evidence, *evidence))


def counts_text(findings: Iterable[Finding]) -> str:
    """Return how many findings of each severity there are, and how many of these are possible."""
    counts = Counter((finding.severity, finding.is_possible) for finding in findings)
    return ", ".join(
        f"{count} {'possible ' if is_possible else ''}{words[count > 1]}"
        for severity, words in _COUNTED.items()
        for is_possible in (False, True)
        if (count := counts[severity, is_possible])
    )


def worst(findings: Iterable[Finding]) -> Severity | None:
    """Return the worst severity among findings; None without findings."""
    return min((finding.severity for finding in findings), key=_RANKS.__getitem__, default=None)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by severity; those of one severity keep their order."""
    return sorted(findings, key=lambda finding: _RANKS[finding.severity])


def exit_code(findings: Iterable[Finding]) -> int:
    """Choose 0 without findings or with notes only, else 2."""
    return HAS_FINDINGS if any(finding.is_severe for finding in findings) else 0
