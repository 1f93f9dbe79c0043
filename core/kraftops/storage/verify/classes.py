"""Classes that a configuration names, and that a server must be able to load at its start.

Measured on Kafka 4.3.1, 4.0.0 and 3.9.1: a key of type class is resolved while the configuration
is parsed (`ConfigDef`), whatever the role; other plug-ins are when a server makes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kraftops.findings.finding import Finding, Place, Severity
from kraftops.java.text import split, trim
from kraftops.storage.config.providers import (
    has_placeholder,
    provider_class_key,
    provider_classes,
)
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.releases.installation import Installation
from kraftops.storage.releases.table import Release, releases

_BROKER, _CONTROLLER, _BOTH = {"broker"}, {"controller"}, {"broker", "controller"}
_OWN = ("kafka.", "org.apache.kafka.")
_PACKAGE = "org.apache.kafka."
_PROVIDER = f"{_PACKAGE}common.config.provider.ConfigProvider"
_ASSIGNOR = f"{_PACKAGE}coordinator.group.api.assignor.PartitionAssignor"
_LOGIN_MODULE = "javax.security.auth.spi.LoginModule"
_PLUGINS = {
    "alter.config.policy.class.name": (f"{_PACKAGE}server.policy.AlterConfigPolicy", _CONTROLLER),
    "authorizer.class.name": (f"{_PACKAGE}server.authorizer.Authorizer", _BOTH),
    "client.quota.callback.class": (f"{_PACKAGE}server.quota.ClientQuotaCallback", _BOTH),
    "create.topic.policy.class.name": (f"{_PACKAGE}server.policy.CreateTopicPolicy", _CONTROLLER),
    "group.consumer.assignors": (_ASSIGNOR, _BOTH),
    "group.share.assignors": (_ASSIGNOR, _BOTH),
    "group.share.persister.class.name": (f"{_PACKAGE}server.share.persister.Persister", _BROKER),
    "kafka.metrics.reporters": ("kafka.metrics.KafkaMetricsReporter", _BOTH),
    "metric.reporters": (f"{_PACKAGE}common.metrics.MetricsReporter", _BOTH),
    "principal.builder.class": (f"{_PACKAGE}common.security.auth.KafkaPrincipalBuilder", _BOTH),
    "replica.selector.class": (f"{_PACKAGE}common.replica.ReplicaSelector", _BROKER),
}
"""The interface of a plug-in, and the roles that make one at their start."""
_REMOTE_STORAGE = "remote.log.storage.system.enable"
_REMOTE_MANAGERS = {
    "remote.log.storage.manager": f"{_PACKAGE}server.log.remote.storage.RemoteStorageManager",
    "remote.log.metadata.manager": f"{_PACKAGE}server.log.remote.storage.RemoteLogMetadataManager",
}
_UNDEFINED = {"kafka.metrics.reporters"}
"""Plug-ins of a key that `KafkaConfig` does not define."""
_SHORT_NAMES = ("uniform", "range", "simple")
"""Assignors that Kafka 4.0 and later take without the package."""
_ZOOKEEPER_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
_TEST_CLASSES = {f"{_PACKAGE}server.log.remote.storage.LocalTieredStorage"}
"""Classes of Kafka's jars of tests, which some put beside the others."""
_JAAS = re.compile(r"\s*([\w.$]+)\s")


class _Named(NamedTuple):
    """A class that a key names, the interface that it must have, and where else it may be."""

    key: str
    class_name: str
    interface: str | None = None
    class_path: str | None = None


def class_findings(
    config: ServerConfig, release: Release, installation: Installation | None
) -> Iterator[Finding]:
    """Yield the classes that a server cannot load, as notes those that only its jars can tell.

    Raises:
        SourceError: a jar of the installation cannot be read.
    """
    named = [*_plugins(config, release), *_providers(config), *_of_listeners(config, release)]
    if "broker" in config.roles and _REMOTE_STORAGE in release.keys:
        named += _remote_managers(config)
        if config.values[_REMOTE_STORAGE] and not _text(
            config, "remote.log.storage.manager.class.name"
        ):
            yield Finding(
                "no-remote-manager",
                Severity.STOPS,
                "remote log storage is enabled without remote.log.storage.manager.class.name: a "
                "broker ends with a NullPointerException",
                Place(file=config.place(_REMOTE_STORAGE)),
                "name the class of the tier's plug-in, or disable it",
            )
    for plugin in dict.fromkeys(named):
        yield from _class_finding(config, plugin, release, installation)


def _plugins(config: ServerConfig, release: Release) -> Iterator[_Named]:
    for key in config.given:
        interface, roles = _PLUGINS.get(key, (None, set()))
        is_made = config.roles & roles and (key in release.keys or key in _UNDEFINED)
        if key.startswith("group.share.") and "share.version" not in release.features:
            is_made = False  # share groups were under development
        if not is_made and release.keys.get(key) != "class":
            continue
        for name in map(trim, split(_text(config, key), ",")):
            is_short = name in _SHORT_NAMES and "group.version" in release.features
            if name and not is_short:
                yield _Named(key, name, interface if is_made else None)


def _providers(config: ServerConfig) -> Iterator[_Named]:
    texts = {key: prop.value for key, prop in config.given.items()}
    for name, class_name in provider_classes(texts).items():
        yield _Named(provider_class_key(name), trim(class_name), _PROVIDER)


def _remote_managers(config: ServerConfig) -> Iterator[_Named]:
    for prefix, interface in _REMOTE_MANAGERS.items():
        name = _text(config, f"{prefix}.class.name")
        if name and config.values[_REMOTE_STORAGE]:
            class_path = _text(config, f"{prefix}.class.path")
            yield _Named(f"{prefix}.class.name", name, interface, class_path)


def _of_listeners(config: ServerConfig, release: Release) -> Iterator[_Named]:
    """Yield what keys of this node's listeners name; a mechanism may stand before the key."""
    for listener in config.listeners:
        prefix = f"listener.name.{listener.name.lower()}."
        for key in config.given:
            name = key.removeprefix(prefix)
            if name == key or not _text(config, key):
                continue
            mechanism, _, rest = name.partition(".")
            if "class" in (release.keys.get(name), release.keys.get(rest)):
                interface, _ = _PLUGINS.get(name, (None, None))
                yield _Named(key, _text(config, key), interface)
            enabled = {item.lower() for item in _mechanisms(config, prefix)}
            is_used = listener.protocol.startswith("SASL_") and mechanism in enabled
            if (
                rest == "sasl.jaas.config"
                and is_used
                and (module := _JAAS.match(_text(config, key)))
            ):
                yield _Named(key, module[1], _LOGIN_MODULE)


def _mechanisms(config: ServerConfig, prefix: str) -> list[str]:
    key = "sasl.enabled.mechanisms"
    return split(_text(config, prefix + key) or _text(config, key) or "GSSAPI", ",")


def _class_finding(
    config: ServerConfig, named: _Named, release: Release, installation: Installation | None
) -> Iterator[Finding]:
    key, name, interface, class_path = named
    place, own = config.place(key), release.classes.get(name)
    # A name without a package is one that another release takes for an assignor.
    is_own = "." not in name or (name.startswith(_OWN) and name not in _TEST_CLASSES)
    if installation:
        is_there = name.startswith("java.") or installation.has_class(name, class_path)
    else:
        is_there = own is not None
    if not is_there and (installation or is_own):
        problem = f"{key} is {name}, which {_place_of(release, installation)} does not have"
        with_it = [rel.name for rel in releases() if name in rel.classes]
        if with_it:
            problem += f": it is in Kafka {with_it[0]} to {with_it[-1]}"
        cure = _instead(name, interface, release) or "put its jar into libs, or take the key out"
        yield Finding("missing-class", Severity.STOPS, problem, Place(file=place), cure)
    elif not is_there:
        problem = f"{key} is {name}, which is not a class of Kafka's: its jar must be there"
        cure = "give --kafka-home to look into the jars of an installation"
        yield Finding("foreign-class", Severity.NOTE, problem, Place(file=place), cure)
    elif name == _ZOOKEEPER_AUTHORIZER:
        problem = f"{key} is {name}, which keeps its rules in ZooKeeper"
        yield Finding(
            "wrong-class",
            Severity.STOPS,
            problem,
            Place(file=place),
            _instead(name, interface, release),
        )
    elif interface and own and not any(_is_a(kind, interface) for kind in own):
        problem = f"{key} is {name}, which is not a {interface.rpartition('.')[2]}"
        cure = _instead(name, interface, release) or "take the key out"
        yield Finding("wrong-class", Severity.STOPS, problem, Place(file=place), cure)


def _is_a(kind: str, interface: str) -> bool:
    """Tell whether interfaces are the same; some have moved to other packages."""
    return kind.rpartition(".")[2] == interface.rpartition(".")[2]


def _instead(name: str, interface: str | None, release: Release) -> str:
    """Return the cure that names Kafka's own class of the same name, or the only one of a kind."""
    simple = name.rpartition(".")[2]
    same = [own for own in release.classes if own.rpartition(".")[2] == simple and own != name]
    alike = [
        own
        for own, kinds in release.classes.items()
        if interface in kinds and own not in (name, _ZOOKEEPER_AUTHORIZER)
    ]
    names = same or (alike if len(alike) == 1 else [])
    return f"name {names[0]}" if names else ""


def _place_of(release: Release, installation: Installation | None) -> str:
    return installation.home if installation else f"Kafka {release.name}"


def _text(config: ServerConfig, key: str) -> str:
    """Return the text of a key; empty where it has none, or only a config provider has it."""
    text = trim(config.given[key].value) if key in config.given else ""
    return "" if has_placeholder(text) else text
