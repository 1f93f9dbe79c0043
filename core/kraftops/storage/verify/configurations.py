"""The configurations of nodes that are named: each file once, and the findings about bad ones."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from kraftops.errors import ConfigError, KraftopsError, SourceError
from kraftops.fileio.reading import is_forbidden
from kraftops.findings.finding import Finding, Place, stop_finding, unless_forbidden
from kraftops.server.log_directory import read_log_directory
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.config.listeners import VOTERS
from kraftops.storage.config.providers import PROVIDERS
from kraftops.storage.config.server_config import ServerConfig, disks_config, keys_in, load_config
from kraftops.storage.config.settings import NEEDED
from kraftops.storage.config.values import ConfigRefused
from kraftops.storage.releases.table import releases
from kraftops.storage.verify.release import Target, key_near


def load_configs(
    kafkas: Sequence[LocalKafka], target: Target | None
) -> tuple[list[ServerConfig], list[Finding]]:
    """Return the configurations, and findings about those that Kafka refuses or cannot read.

    One that is refused is returned too, without its bad keys. Where these say who the node is or
    where it listens, it has its identity and directories alone, if they are known. One file is one
    node by whatever spelling, unless its overrides differ, as those of several servers of this host
    may. *target* is the release that is to run the nodes.

    Raises:
        SourceError: a file does not exist, or no user can read it.
        UsageError: an override is not KEY=VALUE.
    """
    configs, refused, seen = [], [], set()
    for kafka in kafkas:
        identity = os.path.realpath(kafka.path), kafka.overrides
        if identity in seen:
            continue
        seen.add(identity)
        config, error = _load(kafka, target)
        if config:
            configs.append(config)
        if error:
            finding = _refusal(kafka.path, error, config)
            if not (config and config.is_whole):
                finding = _with_misspelt_keys(finding, kafka, target)
            refused.append(finding)
    return configs, refused


def _load(
    kafka: LocalKafka, target: Target | None
) -> tuple[ServerConfig | None, KraftopsError | None]:
    """Return a configuration, without its bad keys if that is possible, and its first error."""
    changed_keys = target.release.changed_keys if target else None
    ignored: frozenset[str] = frozenset()
    first: KraftopsError | None = None
    while True:
        try:
            config = load_config(kafka.path, kafka.overrides, os.environ, changed_keys, ignored)
        except ConfigRefused as error:
            first = first or error
            ignorable = {key for key in error.keys if _is_ignorable(key)} - ignored
            if not ignorable:
                return disks_config(kafka.path, kafka.overrides, os.environ), first
            ignored |= ignorable
        except (ConfigError, SourceError) as error:
            if isinstance(error, SourceError) and not is_forbidden(kafka.path):
                raise
            return None, error
        else:
            return config, first


def _is_ignorable(key: str) -> bool:
    """Tell whether id, roles, addresses and directories of a node do not depend on a key."""
    # Without a provider, a placeholder in log.dirs would be taken for the name of a directory.
    return key not in NEEDED and not key.startswith(PROVIDERS)


def _refusal(path: str, error: KraftopsError, config: ServerConfig | None) -> Finding:
    cure = error.hint or "correct the key that it names"
    if config is None:
        cure += "; its log directories were not read"
    elif isinstance(error, ConfigRefused) and VOTERS in error.keys:
        # A controller that is not one of its voters has a wrong node.id, or wrong voters.
        node_id = read_log_directory(config.metadata_log_dir).node_id
        if node_id not in (None, config.node_id):
            cure = f"set node.id={node_id}, as its directory has it"
    text = error.message.removeprefix(f"{path}: ")
    finding = stop_finding("bad-configuration", text, Place(file=path), cure)
    return unless_forbidden(finding, path)


def _with_misspelt_keys(finding: Finding, kafka: LocalKafka, target: Target | None) -> Finding:
    """Add the misspelt keys of a configuration that could hardly be read."""
    release = target.release if target else releases()[-1]
    with suppress(KraftopsError):
        keys = keys_in(kafka.path, kafka.overrides)
        nearest = [(key, near) for key in keys if (near := key_near(key, release))]
        if nearest:
            spelling = ", and ".join(f"{key} to {near}" for key, near in nearest)
            return replace(finding, cure=f"correct {spelling}; {finding.cure}")
    return finding
