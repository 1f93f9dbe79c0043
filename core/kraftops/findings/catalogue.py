"""The catalogue of findings: what each code means, what Kafka does, and what to do."""

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from kraftops.display import quoting
from kraftops.fileio.packaged import packaged_text
from kraftops.findings.aside import aside_of, new_folder, obstacle
from kraftops.findings.finding import Finding, Place, Severity

# No command: a broker that starts without the directory before another one leads may lead with an
# empty log, and all others then cut theirs.
_RESTORE = (
    "Restore the replica, if another one is intact: let that lead first; then stop this broker and"
    " move the directory away. The broker fetches it again. Leave an only replica where it is:"
    " nothing would be fetched."
)

_COPY = " cp -aL "
"""What commands keep a copy with, which needs room."""
_MOVE = " mv {file} {kept}"
_MENDED_BY = {
    ".index": "index-order",
    ".timeindex": "time-index-order",
    "leader-epoch-checkpoint": "bad-epochs",
}
"""The codes whose cures mend files that the loader refuses, by their names or the ends of these."""


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
        consequence: what follows, as the end of a line.
        restores_replica: whether the broker is to fetch the whole partition again from its leader.
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
    consequence: str = ""
    restores_replica: bool = False

    @property
    def cure(self) -> str:
        """What to do, as the end of a line."""
        return f"{self.action[0].lower()}{self.action[1:].removesuffix('.')}"


@cache
def catalogue() -> Mapping[str, CatalogueRow]:
    """Return the rows by code, in the order of the file."""
    rows = tomllib.loads(packaged_text(__file__, "catalogue.toml"))
    return MappingProxyType({code: _row(code, **fields) for code, fields in rows.items()})


def usual_finding(code: str, text: str, place: Place, **values: object) -> Finding:
    """Return a finding as the catalogue has its code, with these *values* in its commands.

    A value of several words is a tuple.
    """
    row = catalogue()[code]
    quoted = {
        name: quoting.join(map(str, value if isinstance(value, tuple) else (value,)))
        for name, value in values.items()
    }
    commands = tuple(command.format_map(quoted) for command in row.commands)
    return Finding(code, row.severity, text, place, row.cure, commands, consequence=row.consequence)


def code_of_cure(finding: Finding) -> str:
    """Return the code whose cure mends it: a start rebuilds indexes and epochs."""
    if finding.code != "start-refused":
        return finding.code
    name = os.path.basename(finding.place.path)
    return _MENDED_BY.get(os.path.splitext(name)[1] or name, finding.code)


def with_cure(finding: Finding, partition: str) -> Finding:
    """Return a finding about a partition with what its code says to do.

    *partition* is its directory. A note needs nothing. Commands are for the disk of a server: a
    copy without its log directory has none that would mend it.
    """
    place = finding.place
    row = catalogue().get(code_of_cure(finding))
    if row is None or not finding.is_severe or finding.commands:
        return finding
    if not place.directory:
        has_files = row.commands or row.restores_replica
        return finding if has_files else replace(finding, cure=finding.cure or row.cure)
    paths = {
        "file": place.path,
        "segment": os.path.splitext(place.path)[0],
        "partition": partition,
        "directory": place.directory,
        "aside": aside_of(place.directory),
    }
    quoted = {name: quoting.quote_path(path) for name, path in paths.items()}
    quoted["kept"] = new_folder(place.directory, os.path.basename(partition or place.path))
    commands = tuple(command.format_map(quoted) for command in row.commands)
    cure = finding.cure or row.cure
    copied = partition if any(_COPY in command for command in commands) else ""
    moved = place.path if any(_MOVE in command for command in row.commands) else ""
    if (copied or moved) and (reason := obstacle(place.directory, moved=moved, copied=copied)):
        return replace(finding, cure=f"{cure}; {reason}")
    return replace(finding, cure=cure, commands=commands)


def for_only_replica(finding: Finding) -> Finding:
    """Return a finding about a partition without other replicas: nothing would be fetched."""
    row = catalogue().get(code_of_cure(finding))
    if row is None or not row.restores_replica or finding.cure != row.cure:
        return finding
    own = row.action.partition(_RESTORE)[0].rstrip()
    cure = f"{own} It is the only replica: mend it here, or restore it from a backup".lstrip()
    return replace(finding, cure=f"{cure[0].lower()}{cure[1:]}")


def _row(
    code: str,
    severity: str,
    tools: list[str],
    *,
    commands: Iterable[str] = (),
    restores_replica: bool = False,
    **texts: str,
) -> CatalogueRow:
    if restores_replica:
        texts["action"] = f"{texts.get('action', '')} {_RESTORE}".lstrip()
    return CatalogueRow(
        code,
        Severity(severity),
        tuple(tools),
        commands=tuple(commands),
        restores_replica=restores_replica,
        **texts,
    )
