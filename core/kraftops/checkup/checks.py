"""The table of checks, and how they run: each alone, in its own time."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from kraftops.checkup import cluster_checks, copies_check, disk_checks
from kraftops.checkup.examination import UNKNOWN_NODE, Examination
from kraftops.display.sizes import named
from kraftops.errors import KraftopsError, with_code
from kraftops.fileio.mounts import archive_of
from kraftops.findings.finding import Finding
from kraftops.parallel.background import BackgroundCall
from kraftops.storage.logdirs.node import majority_unknown
from kraftops.wire.net.deadline import PAUSE, Deadline

Applies = Callable[[Examination], str | None]
"""Returns why a check has nothing to look at; None if it has."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check: what it looks for, the seconds after which it is given up, and its function."""

    name: str
    title: str
    seconds: float
    find: Callable[[Examination], Iterable[Finding]]
    why_not: Applies
    lacking: Applies = lambda _: None
    """Returns what it cannot judge for lack of files, and why; None if all is there."""


class Status(StrEnum):
    """What became of a check."""

    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"
    GIVEN_UP = "given-up"


@dataclass(slots=True)
class CheckRun:
    """A check that runs, or has run: its findings, and why there are no more."""

    check: Check
    findings: Sequence[Finding] = ()
    status: Status = Status.GIVEN_UP
    reason: str | None = None
    is_unreachable: bool = False
    """Whether it failed because no server answered."""
    lacks_files: bool = False
    """Whether it was skipped, or left something out, for lack of files."""

    @property
    def has_failed(self) -> bool:
        """Whether it could not say what it should."""
        return self.status in (Status.FAILED, Status.GIVEN_UP)


def run_checks(
    examination: Examination,
    checks: Iterable[Check],
    waiting: Callable[[Check], None] = lambda _: None,
) -> Iterator[CheckRun]:
    """Run checks one after the other, and yield each; those that take too long go on alone.

    *waiting* is called again and again while a check runs.
    """
    for check in checks:
        run = CheckRun(check)
        # A thread that waits for a disk cannot be ended; this one ends with the process.
        call = BackgroundCall(partial(_run, examination, run))
        deadline = Deadline(check.seconds)
        while not (has_ended := call.wait(min(PAUSE, deadline.left))) and not deadline.is_over:
            waiting(check)
        if has_ended:
            call.result()
        else:
            # What it still finds goes to the first object.
            run = CheckRun(check, reason=f"it did not end within {check.seconds:.0f} seconds")
        yield run


_NO_CONFIG = "no server.properties is named"
_NO_ENDS = (
    "archives of brokers that run, or were killed, tell where logs end only with the logs of topics"
)
_NO_VOTERS = "no file tells which nodes vote: -c names the server.properties of a controller"
_DAMAGED = "the archive is damaged"
_NO_LEADER = "the quorum has no leader that answers"


def _run(examination: Examination, run: CheckRun) -> None:
    try:
        run.reason = run.check.why_not(examination)
        run.status = Status.SKIPPED if run.reason else Status.DONE
        lacking = run.check.lacking(examination)
        run.lacks_files = lacking is not None and run.reason in (None, lacking)
        if not run.reason:
            run.reason = lacking
            if examination.access is not None:
                examination.access.renew_deadline()
            run.findings = findings = list[Finding]()
            findings.extend(run.check.find(examination))  # those before an error stay
    except KraftopsError as error:
        run.status, run.reason = Status.FAILED, with_code(error.message, error.code)
        run.is_unreachable = error.code in ("no-answer", "no-leader", "not-in-time")
    except OSError as error:
        run.status, run.reason = Status.FAILED, f"{error.filename or ''}: {error.strerror}"
    except Exception as error:
        # A fault of one check must stop no other.
        if os.environ.get("KRAFTOPS_DEBUG"):
            raise
        run.status, run.reason = Status.FAILED, f"{type(error).__name__}: {error}"


def _configs(examination: Examination) -> str | None:
    return None if examination.loaded[0] or examination.configs else _NO_CONFIG


def _own_configs(examination: Examination) -> str | None:
    is_local = any(archive_of(config.path) is None for config in examination.loaded[0])
    return _configs(examination) or (None if is_local else "archives have no key stores")


def _named(examination: Examination) -> str | None:
    is_named = examination.configs or examination.sources
    return None if is_named else "no log directory is named"


def _disks(examination: Examination) -> str | None:
    return _named(examination) or (None if examination.nodes else "no log directory can be read")


def _whole(examination: Examination) -> str | None:
    reason = _DAMAGED if examination.damaged_archives else "the archives have no logs of topics"
    return _disks(examination) or (None if examination.whole_nodes else reason)


def _room(examination: Examination) -> str | None:
    if (access := examination.answers) and access.brokers:
        return None
    if _named(examination) and (reason := _untold(examination, "-b or a log directory")):
        return reason
    paths = [directory.path for _, directory in examination.directories]
    reason = "archives do not show the space on their disks"
    return _whole(examination) or (reason if all(map(archive_of, paths)) else None)


def _deep(examination: Examination) -> str | None:
    return _whole(examination) if examination.is_deep else "--deep reads all partitions"


def _several(examination: Examination) -> str | None:
    return _disks(examination) or (None if len(examination.nodes) > 1 else "one node is named")


def _cluster(examination: Examination) -> str | None:
    reason = _several(examination)
    voters = examination.voters_not_given if reason else ()
    return f"{reason}; {majority_unknown(voters)}" if voters else reason


def _stopped(examination: Examination) -> str | None:
    if any(examination.is_running(node) for node in examination.nodes):
        return "a server runs, which truncates its logs itself"
    brokers = [node for node in examination.nodes if node.is_broker]
    comparable = [node for node in brokers if node in examination.comparable]
    is_unknown = len(comparable) < min(2, len(brokers))
    reason = _without_ends(examination) or _DAMAGED if is_unknown else None
    return _several(examination) or reason


def _without_ends(examination: Examination) -> str | None:
    """Return which brokers have copies that cannot be compared; damaged archives are reported."""
    ids = [
        node.config.node_id
        for node in examination.nodes
        if node.is_broker
        and node not in examination.comparable
        and node.config.node_id != UNKNOWN_NODE
        and archive_of(node.config.log_dirs[0]) not in examination.damaged_archives
    ]
    return f"not of {named('broker', ids)}: {_NO_ENDS}" if ids else None


def _without_voters(examination: Examination) -> str | None:
    used = [node for node in examination.nodes if node.log.is_used]
    is_known = len(used) < 2 or any(node.voters or node.static_voters for node in used)
    return None if is_known else _NO_VOTERS


def _live(examination: Examination) -> str | None:
    return None if examination.access else "no running cluster is named"


def _untold(examination: Examination, source: str) -> str | None:
    """Return why a check beside a live cluster is left out: *source* has the answer."""
    if examination.access is None:
        return None
    return f"{source} tells it" if examination.answers else _NO_LEADER


def _metadata_or_live(examination: Examination) -> str | None:
    if examination.answers:
        return None
    if examination.access and not examination.nodes:
        return _NO_LEADER
    return _disks(examination) or (None if examination.image else "there is no metadata log")


def _metadata_log(examination: Examination) -> str | None:
    access = examination.answers
    if not (access and access.controllers) and (reason := _disks(examination)):
        return _untold(examination, "-C or a metadata log on disk") or reason
    return cluster_checks.too_long_for_incidents(examination)


CHECKS = (
    Check("configuration", "configurations", 10, disk_checks.configurations, _configs),
    Check("directories", "directories that hang, or are copies", 15, disk_checks.directories,
          _named),
    Check("start", "what a start makes of disks", 120, disk_checks.start, _disks),
    Check("partitions", "all bytes of partitions", 86_400, disk_checks.partitions, _deep),
    Check("cluster", "nodes against each other", 60, disk_checks.one_cluster, _cluster,
          _without_voters),
    Check("copies", "copies of partitions on several brokers", 120, copies_check.copies, _stopped,
          _without_ends),
    Check("metadata", "metadata and features", 60, disk_checks.metadata, _disks),
    Check("quorum", "voters and leader of the quorum that runs", 60, cluster_checks.quorum, _live),
    Check("problems", "partitions without all replicas", 60, cluster_checks.problems,
          _metadata_or_live),
    Check("incidents", "incidents of the last day", 60, cluster_checks.incidents, _metadata_log),
    Check("room", "room on disks", 30, disk_checks.room, _room),
    Check("retention", "retention that does not work", 30, disk_checks.retention, _whole),
    Check("transactions", "hanging transactions", 60, disk_checks.transactions, _whole),
    Check("certificates", "certificates that end", 10, cluster_checks.certificates, _own_configs),
    Check("operations", "operations that were left over", 60, cluster_checks.operations,
          _metadata_or_live),
)  # fmt: skip
"""In the order in which they run; seconds are several times what a large node takes."""
