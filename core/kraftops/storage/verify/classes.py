"""Classes that a configuration names, and that a server must be able to load at its start.

Measured on Kafka 4.3.1, 4.0.0 and 3.9.1: a key of type class is resolved while the configuration
is parsed (`ConfigDef`), whatever the role; other plug-ins are when a server makes them.
"""

from collections.abc import Iterator
from typing import NamedTuple

from kraftops.findings.finding import Finding, Place, note_finding, stop_finding
from kraftops.java.text import split, trim
from kraftops.storage.config.providers import has_placeholder, provider_class_key, provider_classes
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.releases.installation import Installation
from kraftops.storage.releases.table import Release, releases

_BROKER, _CONTROLLER, _BOTH = {"broker"}, {"controller"}, {"broker", "controller"}
_OWN = ("kafka.", "org.apache.kafka.")
_PLUGINS = {
    "alter.config.policy.class.name": ("AlterConfigPolicy", _CONTROLLER),
    "authorizer.class.name": ("Authorizer", _BOTH),
    "client.quota.callback.class": ("ClientQuotaCallback", _BOTH),
    "create.topic.policy.class.name": ("CreateTopicPolicy", _CONTROLLER),
    "group.consumer.assignors": ("PartitionAssignor", _BOTH),
    "group.share.assignors": ("PartitionAssignor", _BOTH),
    "group.share.persister.class.name": ("Persister", _BROKER),
    "kafka.metrics.reporters": ("KafkaMetricsReporter", _BOTH),
    "metric.reporters": ("MetricsReporter", _BOTH),
    "principal.builder.class": ("KafkaPrincipalBuilder", _BOTH),
    "remote.log.metadata.manager.class.name": ("RemoteLogMetadataManager", _BROKER),
    "remote.log.storage.manager.class.name": ("RemoteStorageManager", _BROKER),
    "replica.selector.class": ("ReplicaSelector", _BROKER),
}
"""The interface of a plug-in, and the roles that make one at their start."""
_REMOTE_STORAGE = "remote.log.storage.system.enable"
_MANAGER = "remote.log.storage.manager.class.name"
_SELECTOR = "replica.selector.class"  # its text names a class even where it is empty
_SHORT_NAMES = ("uniform", "range", "simple")
"""Assignors that Kafka 4.0 and later take without the package."""
_ZOOKEEPER_AUTHORIZER = "kafka.security.authorizer.AclAuthorizer"
_TEST_CLASSES = {"org.apache.kafka.server.log.remote.storage.LocalTieredStorage"}
"""Classes of Kafka's jars of tests, which some put beside the others."""


class _Named(NamedTuple):
    """A class that a key names, the interface that it must have, and where else it may be."""

    key: str
    class_name: str
    interface: str | None = None
    class_path: str = ""


def class_findings(
    config: ServerConfig, release: Release, installation: Installation | None
) -> Iterator[Finding]:
    """Yield the classes that a server cannot load, as notes those that only its jars can tell.

    Raises:
        SourceError: a jar of the installation cannot be read.
    """
    if _has_tiers(config, release) and not _text(config, _MANAGER):
        yield stop_finding(
            "no-remote-manager",
            f"remote log storage is enabled without {_MANAGER}: a broker ends with a "
            "NullPointerException",
            Place(file=config.place(_REMOTE_STORAGE)),
            f"set {_MANAGER} to the class of the tier's plug-in, or {_REMOTE_STORAGE}=false",
        )
    named = [*_plugins(config, release), *_providers(config), *_of_listeners(config, release)]
    for plugin in dict.fromkeys(named):
        yield from _class_finding(config, plugin, release, installation)


def _has_tiers(config: ServerConfig, release: Release) -> bool:
    is_enabled = config.values[_REMOTE_STORAGE] and _REMOTE_STORAGE in release.keys
    return bool(is_enabled) and "broker" in config.roles


def _plugins(config: ServerConfig, release: Release) -> Iterator[_Named]:
    for key in config.given:
        interface, roles = _PLUGINS.get(key, (None, set()))
        is_made = config.roles & roles and key in release.keys
        if interface and key.startswith("remote.log."):
            is_made = _has_tiers(config, release)
        elif key.startswith("group.share.") and "share.version" not in release.features:
            is_made = False  # share groups were under development
        if not is_made and release.keys.get(key) != "class":
            continue
        class_path = _text(config, key.replace(".class.name", ".class.path"))
        for name in map(trim, split(_text(config, key), ",") or [""]):
            is_short = name in _SHORT_NAMES and "group.version" in release.features
            is_empty = key == _SELECTOR and not config.given[key].value
            if (name or is_empty) and not is_short:
                yield _Named(key, name, interface if is_made else None, class_path)


def _providers(config: ServerConfig) -> Iterator[_Named]:
    texts = {key: prop.value for key, prop in config.given.items()}
    for name, class_name in provider_classes(texts).items():
        yield _Named(provider_class_key(name), trim(class_name), "ConfigProvider")


def _of_listeners(config: ServerConfig, release: Release) -> Iterator[_Named]:
    """Yield what keys of this node's listeners name; a mechanism may stand before the key."""
    for listener in config.listeners:
        prefix = f"listener.name.{listener.name.lower()}."
        for key in config.given:
            name, text = key.removeprefix(prefix), _text(config, key)
            if name == key or not text:
                continue
            mechanism, _, rest = name.partition(".")
            if "class" in (release.keys.get(name), release.keys.get(rest)):
                interface, _ = _PLUGINS.get(name, (None, None))
                yield _Named(key, text, interface)
            is_used = listener.protocol.startswith("SASL_") and rest == "sasl.jaas.config"
            if is_used and mechanism in _mechanisms(config, prefix):
                yield _Named(key, text.split()[0], "LoginModule")


def _mechanisms(config: ServerConfig, prefix: str) -> list[str]:
    key = "sasl.enabled.mechanisms"
    return split((_text(config, prefix + key) or _text(config, key) or "GSSAPI").lower(), ",")


def _class_finding(
    config: ServerConfig, named: _Named, release: Release, installation: Installation | None
) -> Iterator[Finding]:
    key, name, interface, class_path = named
    place, own = config.place(key), release.classes.get(name)
    # A name without a package is one that another release takes for an assignor.
    is_own = "." not in name or (name.startswith(_OWN) and name not in _TEST_CLASSES)
    is_of_java = name.startswith("java.")
    if installation:
        is_there = is_of_java or installation.has_class(name, class_path)
    else:
        is_there = is_of_java or own is not None
    if not is_there and (installation or is_own):
        where = installation.home if installation else f"Kafka {release.name}"
        problem = f"{key} is {name or 'empty'}, which {where} does not have"
        with_it = [rel.name for rel in releases() if name in rel.classes]
        if with_it:
            problem += f": it is in Kafka {with_it[0]} to {with_it[-1]}"
        jar = "" if is_own else "put its jar into libs, or "
        cure = f"{jar}{_instead(named, release) or f'take {key} out'}"
        yield stop_finding("missing-class", problem, Place(file=place), cure)
    elif not is_there:
        problem = f"{key} is {name}, which is not a class of Kafka's: its jar must be there"
        cure = "give --kafka-home to look into the jars of an installation"
        yield note_finding("foreign-class", problem, Place(file=place), cure)
    elif name == _ZOOKEEPER_AUTHORIZER:
        problem = f"{key} is {name}, which keeps its rules in ZooKeeper"
        yield stop_finding("wrong-class", problem, Place(file=place), _instead(named, release))
    elif interface and (own or is_of_java) and interface not in (own or ()):
        problem = f"{key} is {name}, which is not a {interface}"
        cure = _instead(named, release) or f"take {key} out"
        yield stop_finding("wrong-class", problem, Place(file=place), cure)


def _instead(named: _Named, release: Release) -> str:
    """Return the cure that names Kafka's own class of the same name, or the only one of a kind."""
    key, name, interface, _ = named
    simple = name.rpartition(".")[2]
    same = [own for own in release.classes if own.rpartition(".")[2] == simple and own != name]
    alike = [
        own
        for own, kinds in release.classes.items()
        if interface in kinds and own not in (name, _ZOOKEEPER_AUTHORIZER)
    ]
    names = same or (alike if len(alike) == 1 else [])
    return f"set {key}={names[0]}" if names else ""


def _text(config: ServerConfig, key: str) -> str:
    """Return the text of a key; empty where it has none, or only a config provider has it."""
    text = trim(config.given[key].value) if key in config.given else ""
    return "" if has_placeholder(text) else text
