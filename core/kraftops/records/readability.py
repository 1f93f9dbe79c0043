"""The metadata records that each release of Kafka can read, by its own message definitions."""

from kraftops.errors import UsageError

RELEASES = ("3.3", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3")

_LAST_VERSIONS: dict[str, tuple[tuple[str, int], ...]] = {
    "AbortTransactionRecord": (("3.6", 0),),
    "AccessControlEntryRecord": (("3.3", 0),),
    "BeginTransactionRecord": (("3.6", 0),),
    "BrokerRegistrationChangeRecord": (("3.3", 1), ("3.7", 2), ("4.3", 3)),
    "ClearElrRecord": (("4.0", 0),),
    "ClientQuotaRecord": (("3.3", 0),),
    "ConfigRecord": (("3.3", 0),),
    "DelegationTokenRecord": (("3.3", 0),),
    "EndTransactionRecord": (("3.6", 0),),
    "FeatureLevelRecord": (("3.3", 0),),
    "FenceBrokerRecord": (("3.3", 0),),
    "NoOpRecord": (("3.3", 0),),
    "PartitionChangeRecord": (("3.3", 0), ("3.7", 2)),
    "PartitionRecord": (("3.3", 0), ("3.7", 2)),
    "ProducerIdsRecord": (("3.3", 0),),
    "RegisterBrokerRecord": (("3.3", 1), ("3.4", 2), ("3.7", 3), ("4.3", 4)),
    "RegisterControllerRecord": (("3.7", 0),),
    "RemoveAccessControlEntryRecord": (("3.3", 0),),
    "RemoveDelegationTokenRecord": (("3.6", 0),),
    "RemoveTopicRecord": (("3.3", 0),),
    "RemoveUserScramCredentialRecord": (("3.5", 0),),
    "TopicRecord": (("3.3", 0),),
    "UnfenceBrokerRecord": (("3.3", 0),),
    "UnregisterBrokerRecord": (("3.3", 0),),
    "UserScramCredentialRecord": (("3.3", 0),),
    "ZkMigrationStateRecord": (("3.4", 0),),
}
"""By message: the last version that each release from the named one on reads; the first is 0."""


def release_of(text: str) -> str:
    """Return the release in *text* without its patch number: 3.9 for 3.9.1.

    Raises:
        UsageError: the release is unknown.
    """
    name = ".".join(text.split(".")[:2])
    if name not in RELEASES:
        raise UsageError(f"nothing is known of Kafka {text!r}", f"one of {', '.join(RELEASES)}")
    return name


def last_version(message: str, release: str) -> int | None:
    """Return the last version of a record that a release reads; None for an unknown record."""
    last = None
    for since, version in _LAST_VERSIONS.get(message, ()):
        if RELEASES.index(since) <= RELEASES.index(release):
            last = version
    return last
