"""The configurations of nodes that are named: each file once, and the findings about bad ones."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kraftops.errors import ConfigError, SourceError
from kraftops.fileio.reading import is_forbidden
from kraftops.findings.finding import Finding, Place, stop_finding, unless_forbidden
from kraftops.storage.config.host import LocalKafka
from kraftops.storage.config.server_config import ServerConfig, load_config
from kraftops.storage.verify.release import Target


def load_configs(
    kafkas: Sequence[LocalKafka], target: Target | None
) -> tuple[list[ServerConfig], list[Finding]]:
    """Return the configurations, and findings about those that Kafka refuses or nobody may read.

    *target* is the release that is to run the nodes. One file is one node by whatever spelling,
    unless its overrides differ, as those of several servers of this host may.

    Raises:
        SourceError: a file does not exist, or cannot be read by anybody.
        UsageError: an override is not KEY=VALUE.
    """
    changed_keys = target.release.changed_keys if target else None
    configs, refused, seen = [], [], set()
    for kafka in kafkas:
        identity = os.path.realpath(kafka.path), kafka.overrides
        if identity in seen:
            continue
        seen.add(identity)
        try:
            configs.append(load_config(kafka.path, kafka.overrides, os.environ, changed_keys))
        except (ConfigError, SourceError) as error:
            if isinstance(error, SourceError) and not is_forbidden(kafka.path):
                raise
            text = error.message.removeprefix(f"{kafka.path}: ")
            place = Place(file=kafka.path)
            cure = error.hint or "correct the key that it names"
            finding = stop_finding("bad-configuration", text, place, cure)
            refused.append(unless_forbidden(finding, kafka.path))
    return configs, refused
