"""The installed names of the tools."""

import importlib
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))
SCRIPTS: dict[str, str] = PROJECT["project"]["scripts"]
KAFKAS = ["kafka-cluster", "kafka-dump-log", "kafka-metadata-shell", "kafka-storage"]


@pytest.mark.parametrize("name", KAFKAS)
def test_tool_has_the_name_of_kafkas_script_too(name: str) -> None:
    """Strimzi, Bitnami and most scripts call it so."""
    assert SCRIPTS[f"{name}.sh"] == SCRIPTS[name]


@pytest.mark.parametrize("name", SCRIPTS)
def test_entry_point_is_there(name: str) -> None:
    module, _, function = SCRIPTS[name].partition(":")

    assert callable(getattr(importlib.import_module(module), function))


def test_what_a_tool_says_does_not_depend_on_its_name(tmp_path: Path) -> None:
    module, _, function = SCRIPTS["kafka-storage.sh"].partition(":")
    program = tmp_path / "kafka-storage.sh"
    program.write_text(f"#!{sys.executable}\nfrom {module} import {function}\n{function}()\n")
    program.chmod(0o755)

    done = subprocess.run([program, "info"], capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.startswith("kafka-storage: ")
