"""Registrations that block a release are found, with a cure."""

from pathlib import Path

from kraftops.image.load.loading import load
from kraftops.image.verify.release import upgrade_findings
from kraftops.storage.bootstrap.releases import by_name
from tests.helpers.image.verifying import image_of, told, version
from tests.helpers.logs.random_logs import new_record
from tests.helpers.tools.corpus import SHELL


def ranges(**levels: tuple[int, int]) -> list[dict[str, object]]:
    return [
        {
            "name": name.replace("_", "."),
            "minSupportedVersion": first,
            "maxSupportedVersion": last,
        }
        for name, (first, last) in levels.items()
    ]


def test_registrations_that_are_too_old_are_found_with_the_cure(tmp_path: Path) -> None:
    image = image_of(
        tmp_path,
        version(20),
        new_record(
            "RegisterBrokerRecord",
            brokerId=1,
            fenced=False,
            features=ranges(metadata_version=(1, 20)),
        ),
        new_record(
            "RegisterBrokerRecord",
            brokerId=2,
            fenced=True,
            features=ranges(metadata_version=(1, 7)),
        ),
        new_record(
            "RegisterControllerRecord", controllerId=5, features=ranges(metadata_version=(1, 20))
        ),
        new_record("RegisterControllerRecord", controllerId=6, features=[]),
    )

    found = list(upgrade_findings(image, by_name("3.9")))

    assert told(found) == [
        (1, "broker 1 supports metadata.version 1-20, blocks 21"),
        (2, "fenced broker 2 supports metadata.version 1-7, blocks 21"),
        (3, "controller 5 supports metadata.version 1-20, blocks 21"),
        (4, "controller 6 knows no metadata.version, blocks 21"),
    ]
    assert [finding.cure.partition(",")[0] for finding in found] == ["upgrade it"] * 4
    assert found[1].commands == ("kafka-cluster unregister --id 2",)


def test_features_of_a_release_count_too(tmp_path: Path) -> None:
    enough = {"metadata_version": (1, 30), "kraft_version": (0, 1), "group_version": (0, 1)}
    image = image_of(
        tmp_path,
        version(21),
        new_record("RegisterBrokerRecord", brokerId=1, fenced=False, features=ranges(**enough)),
    )

    assert told(upgrade_findings(image, by_name("4.0"))) == [
        (1, "broker 1 knows no transaction.version, blocks 2")
    ]
    assert told(upgrade_findings(image, by_name("3.9"))) == []


def test_there_is_no_way_back(tmp_path: Path) -> None:
    found = list(upgrade_findings(image_of(tmp_path, version(30)), by_name("4.0")))

    assert told(found) == [(0, "metadata.version is 30 already, above 25 of 4.0-IV3")]


def test_upgrade_needs_something_to_begin_with(tmp_path: Path) -> None:
    nothing = new_record("NoOpRecord")

    assert told(upgrade_findings(image_of(tmp_path, nothing), by_name("4.0"))) == [
        (None, "there is no metadata.version to begin with")
    ]


def test_real_cluster_is_ready_for_its_own_release() -> None:
    assert told(upgrade_findings(load(SHELL / "in/n431"), by_name("4.3"))) == []
