"""Checks of a node against the release of Kafka that is to run it.

The rules are those of `KafkaRaftServer`, `BootstrapDirectory`, `FeatureControlManager` and
`KafkaConfig`, tried on Kafka 4.3.1, 4.0.0 and 3.9.1.
"""

import os
import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from kraftops.findings.finding import Finding, Place, Severity, note_finding, stop_finding
from kraftops.java.text import split, trim
from kraftops.log.files import METADATA_PARTITION
from kraftops.records.secrets.rules import BROKER, public_configs
from kraftops.storage.bootstrap.releases import (
    KRAFT_VERSION,
    LATEST_PRODUCTION,
    METADATA_VERSION,
    UNSTABLE,
    by_name,
)
from kraftops.storage.config.listeners import BOOTSTRAP_SERVERS
from kraftops.storage.config.providers import has_placeholder, provider_class_key, provider_classes
from kraftops.storage.config.server_config import ServerConfig
from kraftops.storage.config.settings import read_settings
from kraftops.storage.config.values import ConfigRefused
from kraftops.storage.logdirs.inspector import FORMAT_ANEW
from kraftops.storage.logdirs.node import Node
from kraftops.storage.releases.installation import Installation
from kraftops.storage.releases.table import Release, release_named, releases

_CONTROL_PLANE = "control.plane.listener.name"
_VERSIONS = ("inter.broker.protocol.version", "log.message.format.version")
_MIGRATION = "zookeeper.metadata.migration.enable"
_SEGMENT, _SMALLEST = "metadata.log.segment.bytes", "metadata.log.segment.min.bytes"
_SMALLEST_SEGMENT = 8 << 20  # the default of _SMALLEST, which became a limit of _SEGMENT in 4.1
_RETIRED = {
    "zookeeper.": "KRaft needs no ZooKeeper",
    "control.plane.listener.name": "controllers have listeners of their own",
    "broker.id.generation.enable": "node.id is given, never made up",
    "reserved.broker.max.id": "node.id is given, never made up",
    "inter.broker.protocol.version": "metadata.version has taken its place",
    "log.message.format.version": "the format of records follows from metadata.version",
    "password.encoder.": "secrets are no longer kept in ZooKeeper",
    "delegation.token.master.key": "delegation.token.secret.key has taken its place",
}
"""Why a release no longer reads keys, or keys with a prefix, that earlier ones have."""

_FREE = ("config.providers.", "listener.name.", "rlmm.config.", "rsm.config.")
"""Prefixes of keys with names of the user's: of providers, listeners and plug-ins of tiers."""
_LIKENESS = 0.92
"""That of "nodeid" and "node.id", the shortest key with a letter too few."""
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


class Target(NamedTuple):
    """What is to run a node: a release, and its installation where that is at hand."""

    release: Release
    installation: Installation | None = None


class ReleaseSource(StrEnum):
    """What tells which release is to run a node."""

    OPTION = "option"
    INSTALLATION = "installation"
    REGISTRATION = "registration"
    FEATURES = "features"
    UNKNOWN = "unknown"


class AssumedRelease(NamedTuple):
    """The release that a node is checked against; the oldest possible one is another if unknown."""

    newest: Target
    oldest: Release
    source: ReleaseSource

    @property
    def names(self) -> str:
        """The release, or the oldest and the newest."""
        newest, oldest = self.newest.release.name, self.oldest.name
        return newest if newest == oldest else f"{oldest} to {newest}"

    def __str__(self) -> str:
        return f"Kafka {self.names}, {_SOURCES[self.source]}"


_SOURCES = {
    ReleaseSource.OPTION: "by --release-version",
    ReleaseSource.INSTALLATION: "by --kafka-home",
    ReleaseSource.REGISTRATION: "by its registration",
    ReleaseSource.FEATURES: "by its features",
    ReleaseSource.UNKNOWN: "as nothing tells which",
}


class FeatureLevel(NamedTuple):
    """The level of a feature, and the file or directory that has it."""

    path: str
    name: str
    level: int


def feature_levels(node: Node, release: Release) -> list[FeatureLevel]:
    """Return the levels of features that a server of a release must support to start."""
    content, bootstrap = node.content, node.metadata.bootstrap
    log = os.path.join(node.metadata_path, METADATA_PARTITION)
    levels = [FeatureLevel(log, name, level) for name, level in content.features.items()]
    levels.append(FeatureLevel(log, KRAFT_VERSION, content.quorum.kraft_version))
    if bootstrap:
        # The first controller of a cluster alone applies bootstrap.checkpoint; but up to 4.0 every
        # server resolves the metadata.version in it, at every start.
        applied = bootstrap.features.keys() if _applies_bootstrap(node) else set()
        if _number(release.name) < (4, 1):
            applied |= {METADATA_VERSION} & bootstrap.features.keys()
        levels += [FeatureLevel(bootstrap.path, name, bootstrap.features[name]) for name in applied]
    return levels


def supports(node: Node, release: Release) -> bool:
    """Tell whether a release supports the features of a node, and finds its controllers."""
    levels = feature_levels(node, release)
    return (BOOTSTRAP_SERVERS in release.keys or bool(node.config.voters)) and all(
        release.supports(name, level) for _, name, level in levels
    )


def _applies_bootstrap(node: Node) -> bool:
    return node.is_controller and METADATA_VERSION not in node.content.features


def target_named(release_version: str | None) -> Target | None:
    """Return a release that is to run nodes, as 4.3; None without one.

    Raises:
        UsageError: it does not exist.
    """
    if release_version is None:
        return None
    release = release_named(by_name(release_version).release)
    return Target(release) if release else None


def target_findings(node: Node, target: Target) -> Iterator[Finding]:
    """Yield what keeps a node from starting with a release, and notes.

    Raises:
        SourceError: a jar of the installation cannot be read.
    """
    release = target.release
    yield from _features(node, release)
    yield from _refused_values(node.config, release)
    yield from _ignored_keys(node.config, release)
    yield from class_findings(node.config, release, target.installation)


def _features(node: Node, release: Release) -> Iterator[Finding]:
    for path, name, level in feature_levels(node, release):
        supporting = [rel.name for rel in releases() if rel.supports(name, level)]
        is_unstable = name == METADATA_VERSION and LATEST_PRODUCTION.level < level <= UNSTABLE.level
        if release.supports(name, level) or (is_unstable and node.config.unstable_feature_versions):
            continue
        cure = f"start Kafka {supporting[0]} or later" if supporting else "start a newer Kafka"
        if path.endswith(".checkpoint"):
            anew = f"{FORMAT_ANEW} with --release-version {release.name}"
            cure += (
                f"; or {anew if _applies_bootstrap(node) else 'remove it: it is no longer needed'}"
            )
        problem = f"Kafka {release.name} does not know {name}={level}"
        yield stop_finding("newer-feature", problem, Place(file=path), cure)


def _refused_values(config: ServerConfig, release: Release) -> Iterator[Finding]:
    """Yield values that the release refuses, though Kafka 4.3 takes or ignores them."""
    texts = {key: prop.value for key, prop in config.given.items()}
    texts.setdefault("node.id", str(config.node_id))  # broker.id may stand for it
    try:
        settings = read_settings(texts, config.unresolved, release.changed_keys)
        for listener in config.listeners:
            settings.with_prefix(f"listener.name.{listener.name.lower()}.")
    except ConfigRefused as error:
        yield _refused(config, error.keys[0] if error.keys else "", release, error.message)
    if _CONTROL_PLANE in release.keys and _CONTROL_PLANE in texts:
        yield _refused(config, _CONTROL_PLANE, release, "it is not supported in KRaft mode")
    for key in _VERSIONS:
        if key in texts and key in release.keys and not _is_version(texts[key], release):
            yield _refused(config, key, release, f"{texts[key]} is not a version that it knows")
    if _MIGRATION in release.keys and texts.get(_MIGRATION, "").lower() == "true":
        yield _refused(config, _MIGRATION, release, "a migration needs ZooKeeper")
    smallest = texts.get(_SMALLEST, str(_SMALLEST_SEGMENT))
    if _SMALLEST in release.keys and _is_less(texts.get(_SEGMENT, smallest), smallest):
        yield _refused(config, _SEGMENT, release, f"it must be at least {smallest}")


def _refused(config: ServerConfig, key: str, release: Release, reason: str) -> Finding:
    problem = f"Kafka {release.name} refuses {key}: {reason}"
    return stop_finding(
        "bad-configuration", problem, Place(file=config.place(key)), f"correct {key}"
    )


def _is_version(text: str, release: Release) -> bool:
    """Tell whether a text such as 3.9-IV0 is a version up to that of the release."""
    match = re.fullmatch(r"(\d+)\.(\d+)(\.\d+)?(-IV\d+)?(\.\d+)?", text.strip())
    return match is not None and (int(match[1]), int(match[2])) <= _number(release.name)


def _is_less(text: str, limit: str) -> bool:
    return text.strip().isdecimal() and limit.strip().isdecimal() and int(text) < int(limit)


def _ignored_keys(config: ServerConfig, release: Release) -> Iterator[Finding]:
    """Yield the keys that a release does not read: misspelt, or of another release."""
    for key in config.given:
        reading = [rel.name for rel in releases() if key in rel.keys]
        if near := key_near(key, release):
            problem = f"{key} is ignored: it is not a key of Kafka; is it {near}?"
            place, cure = Place(file=config.place(key)), f"correct it to {near}, or take it out"
            yield Finding("misspelt-key", Severity.RISK, problem, place, cure)
        if not reading or release.name in reading:
            continue  # no release reads the keys of a plug-in
        reason = f"Kafka knows it from {reading[0]} on"
        if _number(reading[-1]) < _number(release.name):
            reasons = (text for name, text in _RETIRED.items() if key.startswith(name))
            reason = next(reasons, f"Kafka {reading[-1]} was the last to read it")
        problem = f"{key} is ignored: {reason}"
        yield note_finding("ignored-key", problem, Place(file=config.place(key)), "take it out")


def key_near(key: str, release: Release) -> str | None:
    """Return the key of a release that one that no release knows is nearly equal to, if any."""
    is_known = key in public_configs()[BROKER] or any(key in rel.keys for rel in releases())
    if is_known or key.startswith(_FREE):
        return None
    from difflib import get_close_matches

    dotted = re.sub("[_-]", ".", key.lower())
    near = get_close_matches(dotted, release.keys, 1, _LIKENESS)
    return near[0] if near else None


def _number(name: str) -> tuple[int, ...]:
    return tuple(map(int, name.split(".")))


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
