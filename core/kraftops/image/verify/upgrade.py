"""Checks of registrations for the features of a release (Kafka's `QuorumFeatures`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from kraftops.engine.metadata_state import EntryKey
from kraftops.findings.finding import Finding
from kraftops.image.state.broker import BrokerState
from kraftops.image.state.findings import UPGRADE, log_finding
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.verify import state_finding
from kraftops.storage.bootstrap.releases import (
    FEATURES,
    METADATA_VERSION,
    MetadataVersion,
    default_level,
)

if TYPE_CHECKING:
    from kraftops.records.metadata_types import RegisterControllerRecord

_NOT_SUPPORTED = (0, 0)  # level 0 stands for a feature that is off (KIP-584)


def upgrade_findings(image: MetadataImage, target: MetadataVersion) -> Iterator[Finding]:
    """Yield the registrations that block an upgrade of the features to a release.

    Fenced brokers and controllers that are long gone count like all others, as in Kafka.
    """
    level = None
    if image.metadata_version is None:
        yield log_finding(UPGRADE, "there is no metadata.version to begin with")
    else:
        level, _ = image.metadata_version
        if level > target.level:
            reason = f"metadata.version is {level} already, above {target.level} of {target.name}"
            entry = EntryKey("features", (METADATA_VERSION,))
            cure = "the only way back is a copy from before the upgrade"
            yield state_finding(image, UPGRADE, reason, entry, cure)
    target_levels = {METADATA_VERSION: target.level}
    target_levels |= {name: default_level(name, target.level) for name in FEATURES}
    for broker_id, broker in image.brokers.items():
        state = image.broker_state(broker)
        kind = "fenced broker" if state["fenced"] else "broker"
        cure = "upgrade it"
        commands: tuple[str, ...] = ()
        if state["fenced"]:
            cure = "upgrade it, or unregister it if it is gone"
            commands = (f"kafka-cluster unregister --id {broker_id}",)
        if blocked := _blocked(state, target_levels):
            reason = f"{kind} {broker_id} {blocked}"
            entry = EntryKey("brokers", (broker_id,))
            yield replace(state_finding(image, UPGRADE, reason, entry, cure), commands=commands)
    for controller_id, address in image.controllers.items():
        cure = "upgrade it, or if it is gone, start it once more in the new release to register"
        if blocked := _blocked(image.read(address)[1], target_levels):
            reason = f"controller {controller_id} {blocked}"
            entry = EntryKey("controllers", (controller_id,))
            yield state_finding(image, UPGRADE, reason, entry, cure)


def _blocked(
    state: BrokerState | RegisterControllerRecord, target_levels: dict[str, int]
) -> str | None:
    """Return the first level that a registration does not support; None if it has all."""
    ranges = {
        feature["name"]: (feature["minSupportedVersion"], feature["maxSupportedVersion"])
        for feature in state["features"]
    }
    for name, level in target_levels.items():
        first, last = ranges.get(name, _NOT_SUPPORTED)
        if not first <= level <= last:
            supported = f"supports {name} {first}-{last}" if name in ranges else f"knows no {name}"
            return f"{supported}, blocks {level}"
    return None
