"""The configuration that a site has given Spark."""

from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.spark.session.settings import site_conf

TEXT = """# of the site
spark.master            yarn
spark.driver.memory=3g
other.name              x
spark.executor.extraJavaOptions  -Da=b -Dc="d e"
"""


@pytest.mark.parametrize("variable", ["SPARK_CONF_DIR", "SPARK_HOME"])
def test_file_is_read_as_spark_reads_it(tmp_path: Path, variable: str) -> None:
    folder = tmp_path if variable == "SPARK_CONF_DIR" else tmp_path / "conf"
    folder.mkdir(exist_ok=True)
    (folder / "spark-defaults.conf").write_text(TEXT)

    assert dict(site_conf({variable: str(tmp_path)})) == {
        "spark.master": "yarn",
        "spark.driver.memory": "3g",
        "spark.executor.extraJavaOptions": '-Da=b -Dc="d e"',
    }


def test_directory_of_configuration_comes_first(tmp_path: Path) -> None:
    environ = {"SPARK_CONF_DIR": str(tmp_path), "SPARK_HOME": "/nowhere"}
    (tmp_path / "spark-defaults.conf").write_text("spark.a b")

    assert site_conf(environ) == (("spark.a", "b"),)


def test_no_file_says_nothing(tmp_path: Path) -> None:
    assert site_conf({"SPARK_HOME": str(tmp_path)}) == ()


def test_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "spark-defaults.conf").mkdir()

    with pytest.raises(UsageError, match=r"cannot read .*spark-defaults\.conf: Is a directory"):
        site_conf({"SPARK_CONF_DIR": str(tmp_path)})
