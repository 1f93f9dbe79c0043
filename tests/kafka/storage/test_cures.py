"""Cures of findings lead to a start of a real node.

One is tried here; `python -m tests.helpers.kafka.cases.cures` tries all.
"""

from pathlib import Path

import pytest

from tests.helpers.kafka.cases.cure_cases import CURES, DECISIONS, QUORUM_CURES
from tests.helpers.kafka.cases.cures import REPLICA_FAULTS, cures_in, rows


def test_every_code_has_one_cure_or_is_a_decision() -> None:
    codes = [*CURES, *QUORUM_CURES, *REPLICA_FAULTS, *DECISIONS]

    assert sorted(codes) == sorted(row.code for row in rows())


@pytest.mark.kafka
def test_partition_gets_its_topic_id_again(jars: Path, tmp_path: Path) -> None:
    with cures_in(tmp_path, jars) as cures:
        treatment = cures.treat("no-topic-id")

    assert treatment.is_cured, treatment
