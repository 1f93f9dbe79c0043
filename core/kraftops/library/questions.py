"""Questions about logs, nodes and clusters, as the commands of the same names answer them."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops.checkup import diagnosis
from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.examination import Examination
from kraftops.display.times import iso_time
from kraftops.errors import UsageError
from kraftops.library.results import Findings, Results, findings_of
from kraftops.memory import budget_of
from kraftops.query.times import Time, time_ms
from kraftops.recovery.node_copies import opened_sources
from kraftops.server.nearby import log_directories_in
from kraftops.storage.config.host import LocalKafka, kafka_of_this_host
from kraftops.uris import Paths, path_texts

if TYPE_CHECKING:
    from kraftops.dump.check.findings import PartitionCheck
    from kraftops.timeline.changes import ChangeLog, MetadataChange
    from kraftops.timeline.incidents import Incident


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

    partitions, common = check_directories(
        CheckRequest(path_texts(source), budget=budget_of(os.environ))
    )
    findings = [*common, *(finding for partition in partitions for finding in partition.findings)]
    lines = Results(partitions, PARTITION, lambda partition: f"{partition.path}: {partition.state}")
    return Check(lines, findings_of(findings))


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
    from kraftops.storage.config.host import LocalKafka
    from kraftops.storage.logdirs.node import read_node
    from kraftops.storage.verify.configurations import load_configs
    from kraftops.storage.verify.release import target_named

    if not isinstance(release_version, str | None):  # 4.10 as a number is 4.1
        raise UsageError(f"release_version is {release_version!r}", "it is a string, such as '4.3'")
    target = target_named(release_version)
    configs, refused = load_configs([LocalKafka(path) for path in path_texts(config)], target)
    budget = budget_of(os.environ)
    nodes = [read_node(config, budget) for config in configs]
    verified = verify_nodes(nodes, cluster_id, target=target)
    return findings_of([*refused, *verified.findings])


def changes(
    source: Paths, *, since: Time | None = None, until: Time | None = None
) -> Results[MetadataChange]:
    """Return what changed in a cluster by its metadata log, as `kraftops changes` does.

    >>> import kraftops
    >>> log = kraftops.changes("tests/data/dump-4.3.1/in/meta")
    >>> log[0].what, log[0].new
    ('leader of the quorum', 'controller 1, epoch 1')

    Args:
        source: a directory, a snapshot or segments of a metadata log.
        since: a datetime, ms since the epoch, or a text as for `--since`; without it, from the
            oldest state that the log has.
        until: without it, to the end of the log.

    Raises:
        KraftopsError: the log cannot be read.
    """
    from kraftops.timeline.selection import CHANGE

    return Results(_change_log(source, since, until).changes, CHANGE, _line)


def incidents(
    source: Paths, *, since: Time | None = None, until: Time | None = None
) -> Results[Incident]:
    """Return what happened in a cluster, by cause; arguments and errors as for `changes`."""
    from kraftops.timeline.answer import INCIDENT, incident_text
    from kraftops.timeline.incidents import incidents_of

    return Results(
        incidents_of(_change_log(source, since, until, is_for_incidents=True)),
        INCIDENT,
        incident_text,
    )


def _line(change: MetadataChange) -> str:
    return f"{iso_time(change.time)} {change.what}: {change.old} → {change.new} ({change.cause})"


def _change_log(
    source: Paths, since: Time | None, until: Time | None, *, is_for_incidents: bool = False
) -> ChangeLog:
    from kraftops.image.load.loading import limits_of
    from kraftops.timeline.changes import read_changes

    first, last = _ms(since), _ms(until)
    return read_changes(
        path_texts(source),
        since=None if first is None else limits_of(None, first - 1),
        until=limits_of(None, None if last is None else last - 1),
        budget=budget_of(os.environ),
        is_for_incidents=is_for_incidents,
    )


def _ms(time_: Time | None) -> int | None:
    return None if time_ is None else time_ms(time_, int(time.time() * 1000))


@dataclass(frozen=True, repr=False)
class Diagnosis(diagnosis.Diagnosis):
    """A verdict in a line, the *findings* behind it, and the checks that were made (*runs*)."""

    findings: Findings


def doctor(source: Paths = (), *, config: Paths = (), deep: bool = False) -> Diagnosis:
    """Examine log directories, archives and nodes, as `kraftops doctor` does.

    >>> import kraftops
    >>> diagnosis = kraftops.doctor("tests/data/log-directories/4.3.1/stopped")
    >>> diagnosis.exit_code, diagnosis.verdict
    (0, 'nothing is wrong: 9 checks done, 2 notes')

    Where nothing is named, the Kafka of this host is examined.

    Args:
        source: log directories, and archives of them.
        config: configuration files of nodes.
        deep: read all partitions.

    Raises:
        KraftopsError: an archive cannot be read, or there is no Kafka on this host.
    """
    kafkas, names = [LocalKafka(path) for path in path_texts(config)], path_texts(source)
    if not (kafkas or names):
        kafkas = kafka_of_this_host()
    directories = [path for name in names for path in log_directories_in(name)]
    now = int(time.time() * 1000)
    with opened_sources(directories, lambda _: None) as sources:
        examination = Examination(
            kafkas,
            sources,
            is_deep=deep,
            now=now,
            parents=names,
            budget=budget_of(os.environ),
        )
        runs = run_checks(examination, CHECKS)
        examined = diagnosis.diagnosis_of(examination, runs, diagnosis.Selection())
    return Diagnosis(
        findings_of(examined.findings),
        examined.runs,
        scope=examined.scope,
        clusters=examined.clusters,
    )
