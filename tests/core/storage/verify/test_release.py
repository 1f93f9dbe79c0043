"""A node is checked against a release: features, values and keys, as measured by starts."""

from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.releases.table import release_named, releases
from kraftops.storage.verify.release import Target, target_findings
from tests.helpers.nodes.node_directories import PROPERTIES, format_node, make_node


def found(node: Path, name: str, overrides: tuple[str, ...] = ()) -> list[Finding]:
    release = release_named(name)
    assert release
    with chdir(node):
        loaded = read_node(load_config(PROPERTIES, overrides))
        return [*target_findings(loaded, Target(release))]


def stopping(node: Path, name: str, *overrides: str) -> list[str]:
    return [finding.text for finding in found(node, name, overrides) if finding.is_severe]


@pytest.mark.parametrize("name", ["4.0", "3.9"])
def test_metadata_version_of_a_later_release(static: Path, name: str) -> None:
    problems = stopping(static, name)

    assert f"Kafka {name} does not know metadata.version=30" in problems


def test_broker_reads_the_metadata_version_of_its_bootstrap_checkpoint(tmp_path: Path) -> None:
    node = make_node(
        tmp_path / "node", process_roles="broker", listeners="PLAINTEXT://localhost:29092",
        controller_quorum_voters="2@localhost:29093",
    )  # fmt: skip
    assert format_node(node).code == 0

    assert stopping(node, "4.0") == ["Kafka 4.0 does not know metadata.version=30"]
    assert stopping(node, "4.3") == []


def test_feature_of_a_later_release(tmp_path: Path) -> None:
    node = make_node(tmp_path / "node")
    assert format_node(node, "-r", "4.0", "-f", "share.version=1").code == 0

    assert stopping(node, "4.0") == ["Kafka 4.0 does not know share.version=1"]
    assert stopping(node, "4.1") == []


@pytest.mark.parametrize(
    ("override", "refusing", "taking"),
    [
        ("group.coordinator.rebalance.protocols=classic,streams", "4.0", "4.3"),
        ("group.share.max.groups=0", "3.9", "4.3"),
        ("zookeeper.session.timeout.ms=long", "3.9", "4.0"),
        ("control.plane.listener.name=PLAINTEXT", "3.9", "4.0"),
        ("inter.broker.protocol.version=9.9", "3.9", "4.0"),
        ("log.message.format.version=many", "3.9", "4.0"),
        ("zookeeper.metadata.migration.enable=true", "3.9", "4.0"),
    ],
)
def test_values_that_a_release_refuses(
    static: Path, override: str, refusing: str, taking: str
) -> None:
    key = override.partition("=")[0]

    [problem] = [text for text in stopping(static, refusing, override) if "refuses" in text]
    taken = stopping(static, taking, override)

    assert problem.startswith(f"Kafka {refusing} refuses {key}: ")
    assert not any(key in text for text in taken)


@pytest.mark.parametrize("value", ["3.9", "3.9-IV0", "3.0", "0.10.0", "2.8-IV1"])
def test_old_versions_of_protocols_pass(static: Path, value: str) -> None:
    texts = stopping(static, "3.9", f"inter.broker.protocol.version={value}")

    assert not any("inter.broker" in text for text in texts)


def test_smallest_metadata_segment_was_a_key_of_its_own(static: Path) -> None:
    small = ("metadata.log.segment.bytes=9000000", "metadata.log.segment.min.bytes=9000001")

    assert any(
        "refuses metadata.log.segment.bytes" in text for text in stopping(static, "4.0", *small)
    )
    assert stopping(static, "4.3", *small) == []


def test_key_of_a_later_release_is_a_note(static: Path) -> None:
    key = "controller.quorum.auto.join.enable"
    notes = [one for one in found(static, "3.9", (f"{key}=true",)) if not one.is_severe]

    assert [(note.code, note.text) for note in notes] == [
        ("ignored-key", f"{key} is ignored: Kafka knows it from 4.2 on")
    ]


def test_misspelt_keys_are_told_and_those_of_plugins_are_not(static: Path) -> None:
    misspelt = {"log.dir.s": "log.dirs", "min.insync.replica": "min.insync.replicas"}
    others = "listener.name.x.nodeid", "config.providers.logdirs", "rsm.config.nodeid", "foo.bar"
    risks = found(static, "4.3", tuple(f"{key}=1" for key in (*misspelt, *others)))

    assert [(risk.code, risk.severity.value, risk.text) for risk in risks] == [
        ("misspelt-key", "risk", f"{key} is ignored: it is not a key of Kafka; is it {near}?")
        for key, near in misspelt.items()
    ]


@pytest.mark.parametrize(
    ("key", "retired_in", "reason"),
    [
        ("zookeeper.connect", "4.0", "KRaft needs no ZooKeeper"),
        ("control.plane.listener.name", "4.0", "controllers have listeners of their own"),
        ("broker.id.generation.enable", "4.0", "node.id is given, never made up"),
        ("password.encoder.secret", "4.0", "secrets are no longer kept in ZooKeeper"),
        (
            "delegation.token.master.key",
            "4.0",
            "delegation.token.secret.key has taken its place",
        ),
        ("controlled.shutdown.max.retries", "4.0", "Kafka 3.9 was the last to read it"),
        ("metadata.log.segment.min.bytes", "4.1", "Kafka 4.0 was the last to read it"),
    ],
)
def test_key_is_noted_from_the_release_on_that_retired_it(
    static: Path, key: str, retired_in: str, reason: str
) -> None:
    names = [release.name for release in releases()]
    before = names[names.index(retired_in) - 1]

    make_node(static, **{key.replace(".", "_"): "1"})

    def ignored(release: str) -> list[str]:
        return [str(note) for note in found(static, release) if note.code == "ignored-key"]

    assert f"server.properties: line 7: {key} is ignored: {reason}" in ignored(retired_in)
    assert key not in str(ignored(before))
