"""Kafka starts as verify says, on several releases.

A few setups are tried here; `python -m tests.helpers.kafka.cases.release_trials` tries all.
"""

from collections.abc import Iterator

import pytest

from tests.helpers.kafka.cases.release_setups import SETUPS
from tests.helpers.kafka.cases.release_trials import ReleaseTrials
from tests.helpers.kafka.jvm.jars import MissingJarsError

pytestmark = pytest.mark.kafka

FEW = {
    "4.3.1": (
        "authorizer of ZooKeeper",
        "tiers without a manager",
        "foreign provider for a keystore",
        "foreign address",
        "used port",
        "port used on another address",
        "used by 4.3.1",
        "recovery-point-offset-checkpoint: text",
    ),
    "4.0.0": ("formatted for 4.3", "protocols with streams", "login handler gone", "node"),
    "3.9.1": ("formatted for 4.3", "small segments", "control plane", "authorizer of ZooKeeper"),
}


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReleaseTrials]:
    trials = ReleaseTrials(tmp_path_factory.mktemp("trials"))
    yield trials
    trials.close()


@pytest.mark.parametrize(
    ("release", "name"),
    [
        pytest.param(release, name, marks=[pytest.mark.long] if name != names[0] else [])
        for release, names in FEW.items()
        for name in names
    ],
)
def test_kafka_starts_as_verify_says(trials: ReleaseTrials, release: str, name: str) -> None:
    try:
        trial = trials.trial(SETUPS[name], release)
    except MissingJarsError as missing:
        pytest.skip(f"no jars of Kafka {release}: {missing}")

    assert trial.agrees, f"Kafka {trial.does}: {trial.words}; verify: {trial.says or 'starts'}"
