"""Entries of the metadata state in words: what they are, and their values."""

from collections.abc import Callable, Mapping
from typing import Any

from kraftops.display.sizes import many
from kraftops.display.times import iso_time
from kraftops.engine.metadata_state import VERSION_FEATURE, EntryChange
from kraftops.engine.timeline_contract import BROKER_RESOURCE
from kraftops.image.state.broker import BrokerState, broker_status
from kraftops.image.state.image import MetadataImage
from kraftops.records.secrets.rules import REDACTED, is_secret_config
from kraftops.storage.bootstrap.releases import by_level
from kraftops.tree.leaves import acl_data
from kraftops.tree.names import entity_name, mechanism_name, resource_name
from kraftops.uuids import to_text

Words = Callable[[int | None], str | None]
"""Returns the words for the value that the record at an address gave an entry; None of None."""
BROKER_DEFAULTS = "all brokers"
"""The resource of defaults."""
_STATUS = {"registered-fenced": "fenced", "controlled-shutdown": "in controlled shutdown"}


def words_of(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    """Return what an entry is, and the function to the words for its values.

    It is an entry of one of the tables of `WORDED`. Secrets are redacted.

    Raises:
        KraftopsError: a record can no longer be read; so does the function.
    """
    return _WORDS[change.table](image, change)


def endpoint_text(data: Mapping[str, Any]) -> str | None:
    """Return the first listener of a registration as `host:port`; None without one."""
    for endpoint in data["endPoints"]:
        return f"{endpoint['host']}:{endpoint['port']}"
    return None


def status_text(state: BrokerState | None) -> str | None:
    """Return whether a broker is active, fenced or in controlled shutdown; None without one."""
    if state is None:
        return None
    status = broker_status(state)
    return _STATUS.get(status, status)


def broker_text(state: BrokerState | None, before: BrokerState | None) -> str | None:
    """Return a broker's state in words, with what else is new beside what it was *before*."""
    text = status_text(state)
    if state is None or text is None:
        return None
    if before is None or before["brokerEpoch"] != state["brokerEpoch"]:
        rack = f", rack {state['rack']}" if state["rack"] is not None else ""
        return f"{text}, registered at {endpoint_text(state) or 'no listener'}{rack}"
    for name, words in (
        ("logDirs", "log directories"),
        ("cordonedLogDirs", "cordoned directories"),
    ):
        old, new = (broker[name] or [] for broker in (before, state))  # type: ignore[literal-required]
        if old != new:
            text += f", {words} {len(old)} → {len(new)}"
    return text


def topic_text(image: MetadataImage, topic_id: bytes) -> str:
    """Return the id of a topic, with the numbers of its partitions and replicas if it is there."""
    text = f"id {to_text(topic_id)}"
    first = image.fold.partition(topic_id, 0)
    if first is None:
        return text
    partitions = many(image.fold.partition_count(topic_id), "partition")
    return f"{partitions}, {many(len(first.replicas), 'replica')}, {text}"


def _reader(image: MetadataImage, show: Callable[[Any], str | None]) -> Words:
    """Return the function from the address of a record to its text."""

    def text(address: int | None) -> str | None:
        return None if address is None else show(image.read(address)[1])

    return text


def _config(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    kind, name, key = change.key
    assert isinstance(kind, int)
    is_of_all = (kind, name) == (BROKER_RESOURCE, "")
    resource = BROKER_DEFAULTS if is_of_all else resource_name((kind, str(name)))
    is_secret = is_secret_config(kind, str(key))
    what = f"{resource} {key}"
    return what, _reader(image, lambda data: REDACTED if is_secret else data["value"])


def _acl(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    address = change.after if change.before is None else change.before
    assert address is not None
    data = image.read(address)[1]
    return f"ACL of {data['principal']}", _reader(image, _acl_text)


def _acl_text(data: Any) -> str:
    acl = acl_data(data)
    return (
        f"{acl['permissionType']} {acl['operation']} on {acl['resourceType']}"
        f" {acl['resourceName']} ({acl['patternType']}) from {acl['host']}"
    )


def _feature(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    name = str(change.key[0])

    def show(data: Any) -> str:
        version = by_level(data["featureLevel"]) if name == VERSION_FEATURE else None
        return version.name if version else str(data["featureLevel"])

    return name, _reader(image, show)


def _quota(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    entity: Any = change.key[0]
    return f"{entity_name(entity)} {change.key[1]}", _reader(image, lambda data: str(data["value"]))


def _scram(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    mechanism: Any = change.key[0]
    what = f"{mechanism_name(mechanism)} of {change.key[1]}"
    return what, _reader(image, lambda data: f"{data['iterations']} iterations")


def _token(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    def show(data: Any) -> str:
        expiry = iso_time(data["expirationTimestamp"]) or str(data["expirationTimestamp"])
        return f"of {data['owner']}, until {expiry}"

    return f"token {change.key[0]}", _reader(image, show)


def _controller(image: MetadataImage, change: EntryChange) -> tuple[str, Words]:
    return f"controller {change.key[0]}", _reader(image, lambda data: endpoint_text(data) or "")


_WORDS: Mapping[str, Callable[[MetadataImage, EntryChange], tuple[str, Words]]] = {
    "configs": _config,
    "acls": _acl,
    "features": _feature,
    "quotas": _quota,
    "scram": _scram,
    "tokens": _token,
    "controllers": _controller,
}
WORDED = frozenset(_WORDS)
"""The tables whose entries have words."""
