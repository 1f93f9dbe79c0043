"""Classes that are gone, foreign or of another kind, as measured by starts of each release."""

from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path

import pytest

from kraftops.findings.finding import Finding
from kraftops.storage.config.server_config import load_config
from kraftops.storage.releases.installation import read_installation
from kraftops.storage.releases.table import release_named
from kraftops.storage.verify.release import class_findings
from tests.helpers.nodes.installations import write_installation, write_jar
from tests.helpers.nodes.node_directories import DYNAMIC, PROPERTIES, make_node
from tests.helpers.nodes.verified_nodes import BROKER, CONTROLLER

FOREIGN = "com.example.Absent"
OWN = "org.apache.kafka."
JMX = f"{OWN}common.metrics.JmxReporter"
STANDARD = f"{OWN}metadata.authorizer.StandardAuthorizer"
SASL = {
    "listeners": "PLAINTEXT://localhost:29092,CONTROLLER://localhost:29093,SASL_PLAINTEXT://:29094",
    "advertised.listeners": "PLAINTEXT://localhost:29092",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,"
    "SASL_PLAINTEXT:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
}
JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"


def found(
    folder: Path,
    changes: Mapping[str, str],
    release: str = "4.3",
    roles: Mapping[str, str] | None = None,
    home: Path | None = None,
) -> list[Finding]:
    node = make_node(folder / "node", DYNAMIC, **(roles or {}))
    named = release_named(release)
    assert named
    with chdir(node):
        overrides = [f"{key}={text}" for key, text in changes.items()]
        config = load_config(PROPERTIES, overrides, changed_keys=named.changed_keys)
    installation = read_installation(str(home)) if home else None
    return [*class_findings(config, named, installation)]


def codes(*arguments: object, **keywords: object) -> list[str]:
    return [finding.code for finding in found(*arguments, **keywords)]  # type: ignore[arg-type]


def test_authorizer_of_zookeeper_is_gone(tmp_path: Path) -> None:
    [finding] = found(
        tmp_path, {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}
    )

    assert finding.code == "missing-class"
    assert finding.is_severe
    assert finding.text.endswith("which Kafka 4.3 does not have: it is in Kafka 3.3 to 3.9")
    assert finding.cure == f"set authorizer.class.name={STANDARD}"


def test_authorizer_of_zookeeper_needs_it(tmp_path: Path) -> None:
    changes = {"authorizer.class.name": "kafka.security.authorizer.AclAuthorizer"}

    [finding] = found(tmp_path, changes, "3.9")

    assert (finding.code, finding.cure) == ("wrong-class", f"set authorizer.class.name={STANDARD}")


def test_moved_class_has_its_new_name_as_the_cure(tmp_path: Path) -> None:
    key = "sasl.login.callback.handler.class"
    old, new = (
        f"{OWN}common.security.oauthbearer.{part}OAuthBearerLoginCallbackHandler"
        for part in ("secured.", "")
    )

    assert [finding.cure for finding in found(tmp_path, {key: old})] == [f"set {key}={new}"]
    assert found(tmp_path, {key: old}, "3.9") == []
    assert found(tmp_path, {key: new}) == []


@pytest.mark.parametrize(
    ("key", "roles", "stops"),
    [
        ("replica.selector.class", None, True),
        ("replica.selector.class", CONTROLLER, False),
        ("create.topic.policy.class.name", BROKER, True),  # is of type class
        ("metric.reporters", CONTROLLER, True),
        ("kafka.metrics.reporters", CONTROLLER, True),
        ("group.consumer.assignors", CONTROLLER, True),
        ("group.share.persister.class.name", CONTROLLER, False),
        ("security.providers", None, False),  # is logged only
        ("listener.name.plaintext.principal.builder.class", None, True),
        ("listener.name.nowhere.principal.builder.class", None, False),
        ("listener.name.plaintext.plain.sasl.server.callback.handler.class", None, True),
    ],
)
def test_class_that_is_not_installed(
    tmp_path: Path, key: str, roles: Mapping[str, str] | None, stops: bool
) -> None:
    home = write_installation(tmp_path / "kafka")

    expected = ["missing-class"] if stops else []
    assert codes(tmp_path, {key: FOREIGN}, roles=roles, home=home) == expected


def test_class_that_is_installed(tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka")
    write_jar(home / "libs/plugin.jar", FOREIGN)

    assert found(tmp_path, {"authorizer.class.name": FOREIGN}, home=home) == []


def test_foreign_class_is_a_note_where_no_jars_are_given(tmp_path: Path) -> None:
    [finding] = found(tmp_path, {"authorizer.class.name": FOREIGN})

    assert (finding.code, finding.is_severe) == ("foreign-class", False)
    assert "--kafka-home" in finding.cure


def test_class_of_tests_is_foreign(tmp_path: Path) -> None:
    changes = {
        "remote.log.storage.system.enable": "true",
        "remote.log.storage.manager.class.name": f"{OWN}server.log.remote.storage.LocalTieredStorage",
    }

    assert codes(tmp_path, changes) == ["foreign-class"]


@pytest.mark.parametrize(
    "key", ["authorizer.class.name", "replica.selector.class", "client.quota.callback.class"]
)
def test_class_of_another_kind(tmp_path: Path, key: str) -> None:
    assert codes(tmp_path, {key: JMX}) == ["wrong-class"]


def test_policy_of_another_kind_is_made_by_controllers_only(tmp_path: Path) -> None:
    changes = {"create.topic.policy.class.name": JMX}

    assert codes(tmp_path, changes, roles=BROKER) == []
    assert codes(tmp_path, changes, roles=CONTROLLER) == ["wrong-class"]


def test_own_classes_pass(tmp_path: Path) -> None:
    changes = {
        "authorizer.class.name": f" {STANDARD} ",
        "metric.reporters": JMX,
        "group.consumer.assignors": f"uniform,{OWN}coordinator.group.assignor.RangeAssignor",
        "principal.builder.class": f"{OWN}common.security.authenticator.DefaultKafkaPrincipalBuilder",
    }

    assert found(tmp_path, changes) == []


def test_short_names_of_assignors_are_of_4_0_on(tmp_path: Path) -> None:
    assert codes(tmp_path, {"group.consumer.assignors": "uniform"}, "3.9") == ["missing-class"]


@pytest.mark.parametrize("release", ["4.3", "4.0", "3.9"])
def test_remote_storage_needs_a_manager_in_a_broker(tmp_path: Path, release: str) -> None:
    changes = {"remote.log.storage.system.enable": "true"}

    assert codes(tmp_path, changes, release) == ["no-remote-manager"]
    assert codes(tmp_path, changes, release, CONTROLLER) == []


def test_manager_of_disabled_remote_storage_is_not_loaded(tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka")
    changes = {"remote.log.storage.manager.class.name": FOREIGN}

    assert found(tmp_path, changes, home=home) == []


def test_login_module_of_a_mechanism(tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka")

    assert codes(tmp_path, {**SASL, JAAS: f"{FOREIGN} required;"}, home=home) == ["missing-class"]
    other = JAAS.replace(".plain.", ".scram-sha-256.")
    assert codes(tmp_path, {**SASL, other: f"{FOREIGN} required;"}, home=home) == []


def test_provider_that_is_not_installed(tmp_path: Path) -> None:
    home = write_installation(tmp_path / "kafka")
    changes = {
        "config.providers": "vault",
        "config.providers.vault.class": FOREIGN,
        "ssl.keystore.password": "${vault:kafka:password}",
    }

    assert codes(tmp_path, changes) == ["foreign-class"]
    assert codes(tmp_path, changes, home=home) == ["missing-class"]
