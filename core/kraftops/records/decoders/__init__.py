"""The decoders by name, one module each; a decoder is loaded when it is asked for."""

from functools import cache
from importlib import import_module

from kraftops.errors import UsageError
from kraftops.records.decoder import Decoder, DecoderOptions
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.internal_topics import decoder_names


@cache
def decoder_named(name: str, options: DecoderOptions = DecoderOptions()) -> Decoder:  # noqa: B008 - immutable
    """Return a decoder by its name.

    Raises:
        UsageError: there is none.
    """
    refuse_unknown_decoder(name)
    decoder: Decoder = import_module(f"{__name__}.{name}").DECODER
    return decoder.configured(options)


def refuse_unknown_decoder(name: str) -> None:
    """Refuse a name of no decoder.

    Raises:
        UsageError: the hint has all names.
    """
    if name not in decoder_names():
        raise UsageError(
            f"{name!r} is not a decoder", hint=f"there are {', '.join(decoder_names())}"
        )


def record_types(name: str | None, dialect: str = KAFKA_DIALECT) -> frozenset[str]:
    """Return the types of a decoder's records and of control records; None: of all decoders.

    Raises:
        UsageError: there is no such dialect.
    """
    from kraftops.records.control import CONTROL_TYPES

    names = decoder_names() if name is None else (name,)
    decoders = (decoder_named(decoder_name, DecoderOptions(dialect)) for decoder_name in names)
    return frozenset(CONTROL_TYPES).union(*(decoder.type_names() for decoder in decoders))
