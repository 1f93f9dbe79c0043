"""Settings of Spark by master and configuration."""

import pytest

from kraftops.errors import UsageError
from kraftops.spark.session.settings import Settings


@pytest.mark.parametrize(
    ("master", "is_local", "full", "tries"),
    [
        ("local", True, "local[1,4]", 1),
        ("local[3]", True, "local[3,4]", 1),
        ("local[3,2]", True, "local[3,2]", 2),
        ("spark://h:7077", False, "spark://h:7077", 4),
        ("local-cluster[2,1,512]", False, "local-cluster[2,1,512]", 4),
    ],
)
def test_masters(master: str, *, is_local: bool, full: str, tries: int) -> None:
    settings = Settings(master)

    assert settings.is_local == is_local
    assert settings.full_master == full
    assert settings.tries == tries


def test_cores_are_known_of_a_local_master_only() -> None:
    assert Settings("local[3]").cores == 3
    assert Settings("yarn").cores is None


def test_configuration_of_the_user_wins() -> None:
    conf = Settings("yarn", (("spark.app.name", "mine"),)).all_conf()

    assert conf["spark.app.name"] == "mine"
    assert conf["spark.master"] == "yarn"
    assert conf["spark.log.level"] == "OFF"
    assert "spark.log.level" not in Settings("yarn", verbose=True).all_conf()


def test_site_wins_over_ours_and_the_user_over_both() -> None:
    site = (
        ("spark.driver.memory", "3g"),
        ("spark.ui.enabled", "true"),
        ("spark.log.level", "INFO"),
    )
    conf = Settings("yarn", (("spark.ui.enabled", "false"),), site=site).all_conf()

    assert conf["spark.ui.enabled"] == "false"
    assert {"spark.driver.memory", "spark.log.level"}.isdisjoint(conf)  # Spark reads the site's
    assert conf["spark.sql.session.timeZone"] == "UTC"


def test_tries_and_own_names_of_the_site_count() -> None:
    site = (("spark.task.maxFailures", "7"), ("spark.kraftops.splitBytes", "5"))

    assert Settings("yarn", site=site).tries == 7
    assert Settings("yarn", (("spark.kraftops.splitBytes", "6"),), site=site).split_bytes == 6


def test_own_names_have_numbers() -> None:
    settings = Settings("local", (("spark.kraftops.splitBytes", "0"),))

    assert settings.worker_seconds == 120
    with pytest.raises(
        UsageError, match=r"spark\.kraftops\.splitBytes is a number from 1 on, not '0'"
    ):
        _ = settings.split_bytes
