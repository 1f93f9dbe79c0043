"""Release and feature levels of a new cluster, by the rules of Kafka's `Formatter`."""

from collections.abc import Iterable, Mapping

from kraftops.errors import UsageError
from kraftops.java.numbers import parse_integer
from kraftops.storage.bootstrap import releases

_QUORUM_FLAGS = "--standalone, --initial-controllers, or --no-initial-controllers"


def parse_levels(arguments: Iterable[str]) -> dict[str, int]:
    """Return feature levels by name from `NAME=LEVEL` texts; of a repeated name the last counts.

    Raises:
        UsageError: one is not of that form, with the message of Kafka's tool.
    """
    levels = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        problem = f"Can't parse feature=level string {argument}: "
        if not equals:
            raise UsageError(f"{problem}equals sign not found.")
        level = parse_integer(text.strip(), 16)
        if level is None:
            raise UsageError(f"{problem}unable to parse {text.strip()} as a short.")
        levels[name.strip()] = level
    return levels


def chosen_version(
    release: releases.MetadataVersion | None, levels: Mapping[str, int], *, unstable: bool
) -> releases.MetadataVersion:
    """Return the metadata version to format with.

    Args:
        release: the value of `--release-version`.
        levels: the values of `--feature`.
        unstable: whether unreleased versions are allowed, and the default.

    Raises:
        UsageError: the version does not exist, or is not allowed.
    """
    level = levels.get(releases.METADATA_VERSION)
    if level is None:
        return release or (releases.UNSTABLE if unstable else releases.LATEST_PRODUCTION)
    if release is not None:
        raise UsageError(
            f"Use --release-version instead of --feature {releases.METADATA_VERSION}=X to avoid "
            "ambiguity."
        )
    version = releases.by_level(level)
    if version is None:
        first, last = releases.METADATA_VERSIONS[0].level, releases.METADATA_VERSIONS[-1].level
        raise UsageError(
            f"No MetadataVersion with feature level {level}. "
            f"Valid feature levels are from {first} to {last}."
        )
    if version is releases.UNSTABLE and not unstable:
        raise UsageError(f"{releases.METADATA_VERSION} {version.name} is not yet stable.")
    return version


def chosen_levels(
    version: releases.MetadataVersion, levels: Mapping[str, int], *, is_dynamic: bool
) -> dict[str, int]:
    """Return the level of every feature of a cluster formatted at *version*.

    Args:
        version: the metadata version.
        levels: the values of `--feature`.
        is_dynamic: whether the quorum is dynamic (KIP-853), its voters not in the configuration.

    Raises:
        UsageError: a level is not possible, with Kafka's message.
    """
    chosen = {name: level for name, level in levels.items() if name != releases.METADATA_VERSION}
    for name in sorted(chosen):
        if name not in releases.FEATURES:
            supported = ", ".join(sorted(releases.FEATURES))
            raise UsageError(f"Unsupported feature: {name}. Supported features are: {supported}")
    chosen[releases.KRAFT_VERSION] = _kraft_version(
        chosen.get(releases.KRAFT_VERSION), is_dynamic=is_dynamic
    )
    for name in releases.FEATURES:
        chosen.setdefault(name, releases.default_level(name, version.level))
    chosen[releases.METADATA_VERSION] = version.level
    for name in sorted(chosen):
        if name != releases.METADATA_VERSION:
            for dependency, least in _level(name, chosen[name]).requires:
                if chosen.get(dependency, 0) < least:
                    raise UsageError(
                        f"{name} could not be set to {chosen[name]} "
                        f"because it depends on {dependency} level {least}"
                    )
    return chosen


def _kraft_version(asked: int | None, *, is_dynamic: bool) -> int:
    if asked is None:
        return 1 if is_dynamic else 0
    if asked == 0 and is_dynamic:
        raise UsageError(
            f"Cannot set {releases.KRAFT_VERSION} to 0 if controller.quorum.voters is empty and one"
            f" of the flags {_QUORUM_FLAGS} is used. For dynamic controllers support, try removing"
            f" the --feature flag for {releases.KRAFT_VERSION}."
        )
    if asked > 0 and not is_dynamic:
        raise UsageError(
            f"Cannot set {releases.KRAFT_VERSION} to {asked} unless controller.quorum.voters is"
            f" empty and one of the flags {_QUORUM_FLAGS} is used. For dynamic controllers support,"
            f" try using one of {_QUORUM_FLAGS} and removing controller.quorum.voters."
        )
    return asked


def _level(name: str, level: int) -> releases.Level:
    try:
        return releases.level_of(name, level)
    except KeyError:
        raise UsageError(f"No feature:{name} with feature level {level}") from None


def dependencies(argument: str) -> tuple[str, tuple[str, ...]]:
    """Return a feature level as text, with the levels that it depends on.

    Raises:
        UsageError: *argument* is not `NAME=LEVEL` of a known feature, with Kafka's message.
    """
    name, equals, text = (part.strip() for part in argument.partition("="))
    if not equals:
        raise UsageError(
            f"Invalid feature format: {argument}. "
            "Expected format: 'feature=version' (e.g. 'group.version=1')"
        )
    level = parse_integer(text, 16)
    if level is None:
        raise UsageError(f"Invalid version format: {text} for feature {name}")
    if name == releases.METADATA_VERSION:
        if releases.by_level(level) is None:
            raise UsageError(f"Unknown {releases.METADATA_VERSION} {level}")
        return level_text(name, level), ()
    if name not in releases.FEATURES:
        raise UsageError(f"Unknown feature: {name}")
    try:
        feature_level = releases.level_of(name, level)
    except KeyError:
        raise UsageError(f"Feature level {level} is not supported for feature {name}") from None
    return level_text(name, level), tuple(level_text(*other) for other in feature_level.requires)


def level_text(name: str, level: int) -> str:
    """Return `NAME=LEVEL`, with the release where it is metadata.version."""
    version = releases.by_level(level) if name == releases.METADATA_VERSION else None
    return f"{name}={level}" + (f" ({version.name})" if version else "")
