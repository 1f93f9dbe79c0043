"""The names of all record types, by decoder."""

from __future__ import annotations

from functools import cache

from kraftops.records.dialects import dialect, snake_case, type_name

CONTROL_TYPES = frozenset(
    {
        "ABORT",
        "COMMIT",
        "LEADER_CHANGE",
        "SNAPSHOT_HEADER",
        "SNAPSHOT_FOOTER",
        "KRAFT_VERSION",
        "KRAFT_VOTERS",
    }
)
"""Those of control records, which all logs may have."""

_KEYED = ("offsets", "transaction", "share")


@cache
def record_types(decoder: str | None, dialect_name: str = "kafka") -> frozenset[str]:
    """Return the types of a decoder's records and of control records; None: those of all."""
    from kraftops.records.coordinator import messages

    found = set(CONTROL_TYPES)
    framed = {"metadata": dialect_name, "remote": "remote-log-metadata"}
    for name, spoken in framed.items():
        if decoder in (None, name):
            found |= {type_name(message) for message in dialect(spoken).messages.values()}
    for name in _KEYED:
        if decoder in (None, name):
            found |= {
                snake_case(key.name.removesuffix("Key")) for key, _ in messages(name).values()
            }
    return frozenset(found)
