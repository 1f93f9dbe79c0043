"""Findings about a metadata log: records that cannot apply, damage, gaps, open transactions."""

from collections.abc import Iterator
from types import MappingProxyType

from kraftops.engine.fold_contract import Fold
from kraftops.findings.finding import Finding, Place, Severity

RECORD = "record-left-out"
DAMAGE = "damage"
GAP = "missing-offsets"
REPEAT = "repeated-offsets"
LATE_START = "late-start"
OPEN_TRANSACTION = "open-transaction"
EPOCH = "epoch-back"
BAD_SNAPSHOT = "bad-snapshot"
STATE = "impossible-state"
NEWER_RECORD = "newer-record"
NEWER_FEATURE = "newer-feature"
UPGRADE = "blocks-upgrade"
REPLICA = "replicas-differ"

_SEVERITIES = MappingProxyType(
    {
        RECORD: Severity.RISK,
        DAMAGE: Severity.LOSS,
        GAP: Severity.LOSS,
        REPEAT: Severity.RISK,
        LATE_START: Severity.RISK,
        OPEN_TRANSACTION: Severity.RISK,
        EPOCH: Severity.RISK,
        BAD_SNAPSHOT: Severity.RISK,
        STATE: Severity.RISK,
        NEWER_RECORD: Severity.STOPS,
        NEWER_FEATURE: Severity.STOPS,
        UPGRADE: Severity.RISK,
        REPLICA: Severity.RISK,
    }
)

CUTS_SHORT = frozenset({DAMAGE, OPEN_TRANSACTION})
"""Codes of findings after which the rest of the log is not in the image."""


def log_finding(
    code: str,
    text: str,
    place: Place = Place(),  # noqa: B008 - frozen
    cure: str = "",
) -> Finding:
    """Return a finding about a metadata log, with the severity of its code."""
    return Finding(code, _SEVERITIES[code], text, place, cure)


class RecordFindings:
    """Address and reason of each record that a fold left out, in the order of the log."""

    def __init__(self, fold: Fold) -> None:
        self._fold = fold

    def __len__(self) -> int:
        return self._fold.dropped

    def __getitem__(self, number: int) -> tuple[int, str]:
        return self._fold.dropped_record(range(len(self))[number])

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return map(self._fold.dropped_record, range(len(self)))
