"""Installations tell their release and their classes by the names of their jars and entries."""

import zipfile
from pathlib import Path

import pytest

from kraftops.errors import SourceError, UsageError
from kraftops.storage.releases.installation import read_installation
from tests.helpers.nodes.installations import write_installation, write_jar


def test_release_is_that_of_the_jar_of_the_server(tmp_path: Path) -> None:
    home = write_installation(tmp_path, "kafka_2.12-3.9.1.jar")

    assert read_installation(str(home)).release.name == "3.9"


def test_release_candidate_and_vendor_builds_are_known(tmp_path: Path) -> None:
    home = write_installation(tmp_path, "kafka_2.13-4.0.0.acme-0001.jar")

    assert read_installation(str(home)).release.name == "4.0"


def test_classes_are_those_of_all_jars(tmp_path: Path) -> None:
    home = write_installation(tmp_path)
    write_jar(home / "libs/plugin.jar", "com.example.Authorizer", "com.example.Outer$Inner")

    installation = read_installation(str(home))

    assert installation.has_class("com.example.Authorizer")
    assert installation.has_class("com.example.Outer$Inner")
    assert not installation.has_class("com.example.Other")


@pytest.mark.parametrize("path", ["tier/*", "tier/manager.jar", "none/*:tier/manager.jar"])
def test_class_path_of_a_plugin_adds_classes(tmp_path: Path, path: str) -> None:
    home = write_installation(tmp_path / "kafka")
    write_jar(tmp_path / "tier/manager.jar", "com.example.Manager")
    parts = ":".join(f"{tmp_path}/{part}" for part in path.split(":"))

    installation = read_installation(str(home))

    assert installation.has_class("com.example.Manager", parts)
    assert not installation.has_class("com.example.Manager")


def test_directory_without_jars_is_not_an_installation(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="libs"):
        read_installation(str(tmp_path))


@pytest.mark.parametrize("name", ["kafka-clients-4.3.1.jar", "kafka_2.13-9.9.9.jar"])
def test_other_jars_are_not_a_server(tmp_path: Path, name: str) -> None:
    home = write_installation(tmp_path, name)

    with pytest.raises(UsageError, match="no server of Kafka"):
        read_installation(str(home))


def test_damaged_jar_is_named(tmp_path: Path) -> None:
    home = write_installation(tmp_path)
    (home / "libs/torn.jar").write_bytes(b"PK\x03\x04")

    with pytest.raises(SourceError, match=r"torn\.jar"):
        read_installation(str(home)).has_class("com.example.A")


def test_jar_without_classes_has_none(tmp_path: Path) -> None:
    home = write_installation(tmp_path)
    with zipfile.ZipFile(home / "libs/resources.jar", "w") as jar:
        jar.writestr("com/example/A.txt", "")

    assert not read_installation(str(home)).has_class("com.example.A")
