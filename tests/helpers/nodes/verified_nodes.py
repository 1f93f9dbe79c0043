"""Nodes that are verified, and the findings."""

import shutil
from contextlib import chdir
from pathlib import Path

from kraftops.findings.finding import Finding
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.directories import read_directories
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.releases.table import releases
from kraftops.storage.verify.release import Target, target_findings
from kraftops.storage.verify.start import verify_node
from kraftops.uuids import from_text
from tests.helpers.logs.metadata_logs import (
    no_ops,
    write_log,
)
from tests.helpers.nodes.node_directories import (
    OTHER_ID,
    PROPERTIES,
)

OTHER = from_text(OTHER_ID)
CONTROLLER = {
    "process_roles": "controller",
    "listeners": "CONTROLLER://localhost:29093",
    "log_dirs": "d1",
}
BROKER = {"process_roles": "broker", "listeners": "PLAINTEXT://localhost:29092"}
TWO_SERVERS = {"controller.quorum.bootstrap.servers": "localhost:29093,elsewhere:29093"}


def verified(node: Path, cluster_id: str | None = None) -> list[Finding]:
    """Return what verify finds, with the newest release."""
    with chdir(node):
        read = read_node(load_config(PROPERTIES))
        return [*verify_node(read, cluster_id), *target_findings(read, Target(releases()[-1]))]


def stopping(node: Path, cluster_id: str | None = None) -> list[str]:
    """Return what would stop a server."""
    return [str(finding) for finding in verified(node, cluster_id) if finding.is_severe]


def notes(node: Path) -> list[str]:
    """Return what is noted only; nothing stops a server."""
    found = verified(node)
    assert not any(finding.is_severe for finding in found), found
    return [str(finding) for finding in found]


def identity(node: Path, directory: str = "d1") -> bytes:
    with chdir(node):
        states = {state.path: state for state in read_directories(load_config(PROPERTIES))}
    meta = states[directory].meta
    assert meta
    assert meta.directory_id
    return meta.directory_id


def used(node: Path, *batches: bytes) -> None:
    """Let a server have written to the metadata log of a node."""
    shutil.rmtree(node / "d1/__cluster_metadata-0", ignore_errors=True)
    write_log(node / "d1", {0: [no_ops(0, 2), *batches]})
