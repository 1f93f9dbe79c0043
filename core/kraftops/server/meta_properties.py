"""File meta.properties, which makes a directory a log directory (Kafka's `MetaProperties`).

Version 1 has `cluster.id` and `node.id` (KIP-631), and optionally `directory.id` (KIP-858).
Version 0 has `broker.id` and `cluster.id` (KIP-78), both optional.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass

from kraftops.errors import DecodeError
from kraftops.fileio.reading import read_small
from kraftops.java.dates import date_text
from kraftops.java.numbers import parse_integer
from kraftops.java.properties import Property, properties, properties_bytes
from kraftops.java.text import trim
from kraftops.uuids import from_text, to_text

FILE_NAME = "meta.properties"
ID_KEYS = {0: "broker.id", 1: "node.id"}


@dataclass(frozen=True, slots=True)
class MetaProperties:
    """Content of a meta.properties; *node_id* is `broker.id` in version 0."""

    version: int
    cluster_id: str | None
    node_id: int | None
    directory_id: bytes | None

    def items(self) -> list[tuple[str, str]]:
        """Return keys and values in the order of Kafka's tool."""
        values = {
            ID_KEYS[self.version]: None if self.node_id is None else str(self.node_id),
            "directory.id": None if self.directory_id is None else to_text(self.directory_id),
            "version": str(self.version),
            "cluster.id": self.cluster_id,
        }
        return [(key, value) for key, value in values.items() if value is not None]


def read(entries: Mapping[str, Property]) -> MetaProperties:
    """Read the properties of a meta.properties.

    Raises:
        DecodeError: Kafka refuses it, with Kafka's message.
    """
    version = _version(entries)
    cluster_id = entries["cluster.id"].value if "cluster.id" in entries else None
    node_id = _number(entries, ID_KEYS[version])
    if version == 1 and node_id is None:
        raise DecodeError("Failed to find node.id")
    directory_id = _directory_id(entries)
    if version == 1 and cluster_id is None:
        raise DecodeError("cluster.id was not found.")
    return MetaProperties(version, cluster_id, node_id, directory_id)


def read_meta(path: str) -> MetaProperties:
    """Return the content of the meta.properties at *path*.

    Raises:
        OSError: it cannot be read.
        DecodeError: its content is invalid.
    """
    return read(properties(read_small(path)))


def file_bytes(items: list[tuple[str, str]]) -> bytes:
    """Return a file as Kafka writes it, with the present time in its second line."""
    return properties_bytes(items, comments=("", date_text(time.localtime())))


def _version(entries: Mapping[str, Property]) -> int:
    if "version" not in entries:
        return 0
    text = entries["version"].value
    number = parse_integer(trim(text), 32)
    if number is None:
        raise DecodeError(f"Invalid meta.properties version string '{text}'")
    if number not in ID_KEYS:
        raise DecodeError(f"Unknown meta.properties version number {number}")
    return number


def _number(entries: Mapping[str, Property], key: str) -> int | None:
    if key not in entries:
        return None
    number = parse_integer(entries[key].value, 32)
    if number is None:
        raise DecodeError(f"Unable to read {key} as a base-10 number.")
    return number


def _directory_id(entries: Mapping[str, Property]) -> bytes | None:
    if "directory.id" not in entries:
        return None
    try:
        return from_text(entries["directory.id"].value)
    except DecodeError as error:
        raise DecodeError(f"Unable to read directory.id as a Uuid: {error.message}") from None
