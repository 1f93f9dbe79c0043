"""The catalogue of findings: what each code means, what Kafka does, and what to do."""

from __future__ import annotations

import os
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pkgutil import get_data
from types import MappingProxyType

from kraftops.findings.aside import aside_of
from kraftops.findings.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """A row of the catalogue.

    Attributes:
        code: it never changes its meaning.
        severity: the usual one; a finding can be milder or worse.
        tools: who finds it: `check`, `verify`, `shell`, `report`, `recover` or `doctor`.
        title: a few words.
        meaning: what is the case.
        kafka: what Kafka does, with the class and the release where that was seen.
        action: what to do.
        proof: how to be sure.
        commands: what does the action, with names of places in braces.
    """

    code: str
    severity: Severity
    tools: tuple[str, ...]
    title: str
    meaning: str
    kafka: str
    action: str
    proof: str
    commands: tuple[str, ...] = ()

    @property
    def restores_replica(self) -> bool:
        """Whether the broker is to fetch the whole partition anew from its leader."""
        # What a start cuts off needs a copy only: the broker fetches the end itself.
        return self.code != "start-cuts-log" and "{partition} {aside}/" in "".join(self.commands)

    @property
    def cure(self) -> str:
        """What to do, as the end of a line."""
        return f"{self.action[0].lower()}{self.action[1:].removesuffix('.')}"


@cache
def catalogue() -> Mapping[str, CatalogueRow]:
    """Return the rows by code, in the order of the file."""
    # Spark's workers import the package from an archive, in which it is not a file.
    text = get_data(__package__, "catalogue.toml")
    assert text is not None
    rows = tomllib.loads(text.decode())
    return MappingProxyType({code: _row(code, **fields) for code, fields in rows.items()})


def with_cure(finding: Finding, partition: str) -> Finding:
    """Return a finding about a partition with what its code says to do.

    *partition* is its directory. A note needs nothing. Commands are for the disk of a server: a
    copy without its log directory has none that would mend it.
    """
    place = finding.place
    row = catalogue().get(finding.code)
    if row is None or not finding.is_severe or finding.commands:
        return finding
    if not place.directory:
        return finding if row.commands else replace(finding, cure=finding.cure or row.cure)
    paths = {
        "file": place.path,
        "segment": os.path.splitext(place.path)[0],
        "partition": partition,
        "directory": place.directory,
        "aside": aside_of(place.directory),
    }
    quoted = {name: shlex.quote(path) for name, path in paths.items()}
    commands = tuple(command.format_map(quoted) for command in row.commands)
    return replace(finding, cure=finding.cure or row.cure, commands=commands)


def _row(
    code: str, severity: str, tools: list[str], commands: Iterable[str] = (), **texts: str
) -> CatalogueRow:
    return CatalogueRow(code, Severity(severity), tuple(tools), commands=tuple(commands), **texts)
