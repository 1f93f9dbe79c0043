"""`kafka-cluster` beside what Kafka's tool did where there is no cluster."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.tools.cluster_transcripts import Case, cases, difference, write_files
from tests.helpers.wire.peers import Peer, free_port, saying, silent


@pytest.fixture(scope="module")
def ports() -> Iterator[dict[str, str]]:
    """Ports without a server, and servers that are not Kafka."""

    def close(_: socket.socket) -> None:
        pass

    http = saying(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with free_port() as dead, Peer(silent) as mute, Peer(close) as closing, Peer(http) as other:
        yield {
            "DEAD": str(dead),
            "SILENT": str(mute.address.port),
            "EOF": str(closing.address.port),
            "HTTP": str(other.address.port),
        }


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("files"))


@pytest.mark.parametrize("case", cases("none", "fake"), ids=lambda case: case.name)
def test_same_output_and_exit_code(case: Case, folder: Path, ports: dict[str, str]) -> None:
    assert difference(case, folder, ports, here=True) == ""
