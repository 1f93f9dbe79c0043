"""Installations of Kafka with jars that have the names of classes only."""

import zipfile
from pathlib import Path


def write_installation(home: Path, server: str = "kafka_2.13-4.3.1.jar") -> Path:
    """Write an installation with the jar of a server."""
    write_jar(home / "libs" / server, "kafka.Kafka")
    return home


def write_jar(path: Path, *classes: str) -> None:
    """Write a jar with empty classes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for name in classes:
            jar.writestr(f"{name.replace('.', '/')}.class", b"")
