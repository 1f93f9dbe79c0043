"""What is wrong with nodes and their disks, as `kraftops doctor` says it."""

import os
import time
from dataclasses import dataclass

from kraftops.checkup import diagnosis
from kraftops.checkup.checks import CHECKS, run_checks
from kraftops.checkup.examination import Examination
from kraftops.library.results import Findings, findings_of
from kraftops.memory import budget_of
from kraftops.recovery.node_copies import opened_sources
from kraftops.server.nearby import log_directories_in
from kraftops.storage.config.host import LocalKafka, kafka_of_this_host
from kraftops.uris import Paths, path_texts


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
    return Diagnosis(findings_of(examined.findings), examined.runs)
