"""The names of all record types, by decoder."""

from __future__ import annotations

from functools import cache

from kraftops.records.control import CONTROL_TYPES
from kraftops.records.decoders.keyed import COORDINATORS, type_names
from kraftops.records.dialects import dialect, type_name


@cache
def record_types(decoder: str | None, dialect_name: str = "kafka") -> frozenset[str]:
    """Return the types of a decoder's records and of control records; None: those of all."""
    found = set(CONTROL_TYPES)
    framed = {"metadata": dialect_name, "remote": "remote-log-metadata"}
    for name, spoken in framed.items():
        if decoder in (None, name):
            found |= {type_name(message) for message in dialect(spoken).messages.values()}
    for name in COORDINATORS:
        if decoder in (None, name):
            found.update(type_names(name).values())
    return frozenset(found)
