"""What is foretold of damaged partitions, and what Kafka's own loader makes of them."""

from pathlib import Path

import pytest

from tests.helpers.kafka.jvm.jars import MissingJarsError, resolved_jars
from tests.helpers.kafka.jvm.jvm import has_compiler, java_release
from tests.helpers.kafka.loader.comparison import Comparison, cases
from tests.helpers.kafka.loader.faults import WEIGHTS
from tests.helpers.kafka.loader.kafka_loader import KafkaLoader


@pytest.mark.parametrize(("release", "count"), [("4.3.1", 300), ("3.9.1", 100)])
def test_damaged_partitions_load_as_foretold(release: str, count: int, tmp_path: Path) -> None:
    if not has_compiler() or java_release() < 17:
        pytest.skip("java is no JDK of 17 or later, which Kafka's loader needs")
    try:
        jars = resolved_jars(release)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka: {missing}")
    with KafkaLoader(jars) as loader:
        comparison = Comparison(loader, tmp_path)
        differences = [
            str(comparison.shrunk(difference))
            for case in cases(38, count, release)
            if (difference := comparison.count(case))
        ]

    assert differences == []
    counts, kinds = comparison.counts, comparison.kinds
    assert counts["refused"] > count / 4
    assert 0.4 < counts["clean"] / count < 0.6
    assert len(kinds) > 30
    assert len(WEIGHTS) > 60
    assert kinds.most_common(1)[0][1] <= 0.06 * kinds.total()
