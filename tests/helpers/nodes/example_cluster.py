"""The small cluster of the documentation on disk, and directories that are exchanged."""

import tarfile
from pathlib import Path


def example_cluster(folder: Path) -> Path:
    """Unpack controllers 1 to 3, and brokers 101 to 103, which have 43 copies of partitions."""
    with tarfile.open("docs/cluster.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "cluster"


def exchange(first: Path, second: Path) -> None:
    aside = first.rename(first.with_name("exchanged"))
    second.rename(first)
    aside.rename(second)
