"""Blocks of zeros, as preallocated files have them."""

_ZEROS = bytes(1 << 16)


def are_zeros(data: bytes) -> bool:
    """Tell whether bytes are all zeros; to count them takes ten times as long."""
    start = zeros_end(data, 0, len(data))
    return data.count(0, start) == len(data) - start


def zeros_end(data: bytes, start: int, end: int) -> int:
    """Return the end of large blocks of zeros from *start* on; more zeros may follow."""
    while start + len(_ZEROS) <= end and data.startswith(_ZEROS, start):
        start += len(_ZEROS)
    return start
