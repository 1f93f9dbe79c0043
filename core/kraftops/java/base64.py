"""Base64 as `java.util.Base64` decodes it, with its messages."""

from binascii import a2b_base64

from kraftops.errors import DecodeError

STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
URL_SAFE = STANDARD[:-2] + "-_"


def decode(text: str, alphabet: str) -> bytes:
    """Decode *text*; padding may be missing, and unused bits may be set.

    Raises:
        DecodeError: Java's decoder of this *alphabet* refuses it, with Java's message.
    """
    if len(text) == 1:
        raise DecodeError("Input byte[] should at least have 2 bytes for base64 bytes")
    coded, _, rest = text.partition("=")
    if illegal := coded.lstrip(alphabet):
        raise DecodeError(f"Illegal base64 character {_code(illegal[0])}")
    has_padding = len(coded) < len(text)
    unit = len(coded) % 4
    if has_padding and (unit == 0 or (unit == 2 and not rest.startswith("="))):
        raise DecodeError("Input byte array has wrong 4-byte ending unit")
    if unit == 1:
        raise DecodeError("Last unit does not have enough valid bits")
    end = len(coded) + (4 - unit if has_padding else 0)
    if end < len(text):
        raise DecodeError(f"Input byte array has incorrect ending byte at {end}")
    if alphabet is URL_SAFE:
        coded = coded.replace("-", "+").replace("_", "/")
    return a2b_base64(coded + "=" * (-unit % 4))


def _code(sign: str) -> str:
    """Return the code of a character as Java shows it: the signed byte of its Latin-1 form."""
    number = ord(sign) if ord(sign) < 0x100 else ord("?")
    return f"{number - 0x100 if number > 0x7F else number:x}"
