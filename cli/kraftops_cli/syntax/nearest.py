"""The option or command that is meant by a name that does not exist."""

from collections.abc import Collection

_USUAL_NAMES = {
    **dict.fromkeys(("--broker", "--broker-id", "--brokers", "--node", "--node-id"), "--id"),
    **dict.fromkeys(("--from-time", "--last", "--start"), "--since"),
    **dict.fromkeys(("--end", "--to-time"), "--until"),
    **dict.fromkeys(("--file", "--out"), "--output"),
    **dict.fromkeys(("--kafka-version", "--release", "--target-version"), "--release-version"),
    "--max": "--limit",
    "--plan": "--dry-run",
}
"""Options of ours by names that other tools have for the same."""


def nearest(name: str, names: Collection[str]) -> str:
    from difflib import get_close_matches

    usual = _USUAL_NAMES.get(name, "")
    if usual in names and f"{name}s" not in names:
        return usual
    # Equal dashes would make short names alike.
    bare = {option.lstrip("-"): option for option in names}
    near = get_close_matches(name.lstrip("-"), bare, 1)
    return bare[near[0]] if near else ""


def unknown_option(name: str, names: Collection[str]) -> str:
    """Return the text of our forms about an option that does not exist."""
    from kraftops_shell.grammar.nearest import unknown

    return unknown("option", name, [near] if (near := nearest(name, names)) else [])
