"""The decoders by name: one module and one row of `KINDS` for each kind of topic.

Importing this package loads no decoder and no message table.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import NamedTuple

from kraftops.records.decoder import Choice, Decoder
from kraftops.records.dialects import SHIPPED

METADATA = "metadata"
USER = "user"


class Kind(NamedTuple):
    """A kind of internal topic: the decoder's name, the topic, Kafka's option, the module.

    The module's `DECODER` is the decoder.
    """

    name: str
    topic: str
    flag: str
    module: str

    @property
    def parameter(self) -> str:
        """The name of the option as a parameter."""
        return self.flag.removeprefix("--").replace("-", "_")


KINDS = (
    Kind(
        "offsets",
        "__consumer_offsets",
        "--offsets-decoder",
        "kraftops.records.decoders.offsets",
    ),
    Kind(
        "transaction",
        "__transaction_state",
        "--transaction-log-decoder",
        "kraftops.records.decoders.transaction",
    ),
    Kind(
        METADATA,
        "__cluster_metadata",
        "--cluster-metadata-decoder",
        "kraftops.records.decoders.metadata",
    ),
    Kind(
        "remote",
        "__remote_log_metadata",
        "--remote-log-metadata-decoder",
        "kraftops.records.decoders.remote",
    ),
    Kind(
        "share",
        "__share_group_state",
        "--share-group-state-decoder",
        "kraftops.records.decoders.share",
    ),
)
"""Of several options that are given, the first in this order counts, as in `DumpLogSegments`."""


def decoder_names() -> tuple[str, ...]:
    """Return the names of all decoders."""
    return (*(kind.name for kind in KINDS), USER)


def name_for_topic(topic: str) -> str:
    """Return the name of the decoder of a topic's records."""
    return next((kind.name for kind in KINDS if kind.topic == topic), USER)


@cache
def decoder_named(name: str, choice: Choice = Choice()) -> Decoder:  # noqa: B008 - immutable
    """Return a decoder by its name.

    Raises:
        KeyError: there is none.
    """
    modules = {kind.name: kind.module for kind in KINDS}
    modules[USER] = "kraftops.records.decoders.user"
    decoder: Decoder = import_module(modules[name]).DECODER
    return decoder.configured(choice)


def record_types(name: str | None, dialect: str = SHIPPED) -> frozenset[str]:
    """Return the types of a decoder's records and of control records; None: of all decoders.

    Raises:
        UsageError: there is no such dialect.
    """
    from kraftops.records.control import CONTROL_TYPES

    names = decoder_names() if name is None else (name,)
    decoders = (decoder_named(one, Choice(dialect)) for one in names)
    return frozenset(CONTROL_TYPES).union(*(one.type_names() for one in decoders))
