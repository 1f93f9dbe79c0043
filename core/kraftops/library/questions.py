"""Questions about logs, nodes and clusters, as the commands of the same names answer them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from kraftops.display.times import iso_time
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import worst_first
from kraftops.library.results import Findings, Results

if TYPE_CHECKING:
    from kraftops.checkup.diagnosis import Diagnosis
    from kraftops.dump.check.findings import PartitionCheck
    from kraftops.findings.finding import Finding
    from kraftops.storage.config.host import LocalKafka
    from kraftops.timeline.changes import ChangeLog, MetadataChange
    from kraftops.timeline.incidents import Incident

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""A path, or several."""
Time = datetime | int | str | None
"""A time; a number is in ms since the epoch, a text as of `--since`."""


@dataclass(frozen=True)
class Check:
    """The *partitions* that were checked, and the *findings* about all of them."""

    partitions: Results[PartitionCheck]
    findings: Findings


def check(source: Paths) -> Check:
    """Compare partitions with what Kafka's loader expects, as `kraftops dump-log check` does.

    >>> import kraftops
    >>> checked = kraftops.check("tests/data/log-directories/4.3.1/stopped")
    >>> bool(checked.findings), checked.partitions[0].state
    (False, <State.CLEAN: 'clean'>)

    Args:
        source: directories of partitions, or log directories.

    Raises:
        KraftopsError: a directory holds no log, or cannot be read.
    """
    from kraftops.dump.check.answer import PARTITION
    from kraftops.dump.check.directories import CheckRequest, check_directories

    partitions, common = check_directories(CheckRequest(_names(source)))
    findings = [*common, *(finding for partition in partitions for finding in partition.findings)]
    lines = Results(partitions, PARTITION, lambda partition: f"{partition.path}: {partition.state}")
    return Check(lines, _findings(findings))


def verify(
    config: Paths, *, release_version: str | None = None, cluster_id: str | None = None
) -> Findings:
    """Say what keeps nodes from starting, as `kafka-storage verify` does.

    Args:
        config: configuration files of the nodes of one cluster.
        release_version: the release that is to run them, as 4.3.
        cluster_id: the cluster id that is expected.

    Raises:
        KraftopsError: a file or the release does not exist.
    """
    from kraftops.image.verify.nodes import verify_nodes
    from kraftops.storage.logdirs.node import read_node
    from kraftops.storage.verify.configurations import load_configs
    from kraftops.storage.verify.release import target_named

    target = target_named(release_version)
    configs, refused = load_configs(_kafkas(config), target)
    verified = verify_nodes([*map(read_node, configs)], cluster_id, target=target)
    return _findings([*refused, *verified.findings])


def changes(source: Paths, *, since: Time = None, until: Time = None) -> Results[MetadataChange]:
    """Return what changed in a cluster by its metadata log, as `kraftops changes` does.

    >>> import kraftops
    >>> log = kraftops.changes("tests/data/dump-4.3.1/in/meta")
    >>> log[0].what, log[0].new
    ('leader of the quorum', 'controller 1, epoch 1')

    Args:
        source: a directory, a snapshot or segments of a metadata log.
        since: without it, from the oldest state that the log has.
        until: without it, to the end of the log.

    Raises:
        KraftopsError: the log cannot be read.
    """
    from kraftops.timeline.selection import CHANGE

    return Results(_change_log(source, since, until).changes, CHANGE, _line)


def incidents(source: Paths, *, since: Time = None, until: Time = None) -> Results[Incident]:
    """Return what happened in a cluster, by cause; arguments and errors as of `changes`."""
    from kraftops.timeline.answer import INCIDENT, incident_text
    from kraftops.timeline.incidents import incidents_of

    return Results(
        incidents_of(_change_log(source, since, until, is_for_incidents=True)),
        INCIDENT,
        incident_text,
    )


def doctor(source: Paths = (), *, config: Paths = (), deep: bool = False) -> Diagnosis:
    """Examine log directories, archives and nodes, as `kraftops doctor` does.

    >>> import kraftops
    >>> diagnosis = kraftops.doctor("tests/data/log-directories/4.3.1/stopped")
    >>> diagnosis.exit_code
    0

    The findings are `Findings`. Where nothing is named, the Kafka of this host is examined.

    Args:
        source: log directories, and archives of them.
        config: configuration files of nodes.
        deep: read all partitions.

    Raises:
        KraftopsError: an archive cannot be read, or there is no Kafka on this host.
    """
    from kraftops.checkup.checks import CHECKS, run_checks
    from kraftops.checkup.diagnosis import Selection, diagnosis_of
    from kraftops.checkup.examination import Examination
    from kraftops.recovery.node_copies import unpacked
    from kraftops.server.nearby import log_directories_in
    from kraftops.storage.config.host import kafka_of_this_host

    kafkas, names = _kafkas(config), _names(source)
    if not (kafkas or names):
        kafkas = kafka_of_this_host()
    with ExitStack() as stack:
        paths = [path for name in names for path in log_directories_in(name)]
        sources = stack.enter_context(unpacked(paths))
        now = int(time.time() * 1000)
        examination = Examination(kafkas, sources, None, None, deep, now)
        diagnosis = diagnosis_of(examination, run_checks(examination, CHECKS), Selection())
        return replace(diagnosis, findings=_findings(diagnosis.findings))


def _line(change: MetadataChange) -> str:
    return f"{iso_time(change.time)} {change.what}: {change.old} → {change.new} ({change.cause})"


def _names(source: Paths) -> list[str]:
    several = [source] if isinstance(source, (str, os.PathLike)) else source
    return [os.fspath(name) for name in several]


def _kafkas(config: Paths) -> list[LocalKafka]:
    from kraftops.storage.config.host import LocalKafka

    return [LocalKafka(path) for path in _names(config)]


def _findings(findings: Sequence[Finding]) -> Findings:
    return Findings(worst_first(findings), FINDING, str)


def _change_log(
    source: Paths, since: Time, until: Time, *, is_for_incidents: bool = False
) -> ChangeLog:
    from kraftops.image.load.loading import limits_of
    from kraftops.timeline.changes import read_changes

    first, last = _ms(since), _ms(until)
    return read_changes(
        _names(source),
        since=None if first is None else limits_of(None, first - 1),
        until=limits_of(None, None if last is None else last - 1),
        is_for_incidents=is_for_incidents,
    )


def _ms(time_: Time) -> int | None:
    from kraftops.query.times import parse_time

    if time_ is None or isinstance(time_, int):
        return time_
    text = time_.isoformat() if isinstance(time_, datetime) else time_
    return parse_time(text, int(time.time() * 1000))
