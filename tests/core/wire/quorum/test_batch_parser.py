"""Batches from bytes that arrive in parts."""

import pytest

from kraftops.errors import WireError
from kraftops.wire.net.addresses import Address
from kraftops.wire.quorum.live_log import BatchParser, next_offset_and_epoch
from tests.helpers.wire.quorums import batch

ENDPOINT = Address("one", 1)
WHOLE = batch(0, 2) + batch(2) + batch(3, 5, epoch=4)


@pytest.mark.parametrize("size", [1, 7, 26, 27, 100, len(WHOLE)])
def test_batches_are_those_of_the_whole(size: int) -> None:
    parser = BatchParser(ENDPOINT)

    batches = [
        each
        for start in range(0, len(WHOLE), size)
        for each in parser.batches(WHOLE[start : start + size], start)
    ]

    assert b"".join(each.data for each in batches) == WHOLE
    assert [each.position for each in batches] == [
        0, batches[0].size, batches[0].size + batches[1].size,
    ]  # fmt: skip
    assert [next_offset_and_epoch(each) for each in batches] == [(2, 1), (3, 1), (8, 4)]
    assert parser.rest == b""


def test_begun_batch_is_the_rest() -> None:
    parser = BatchParser(ENDPOINT)

    assert len([*parser.batches(WHOLE[:-1], -1)]) == 2
    assert WHOLE.endswith(parser.rest + WHOLE[-1:])


def test_batch_without_a_position_has_none() -> None:
    assert [each.position for each in BatchParser(ENDPOINT).batches(WHOLE, -1)] == [-1, -1, -1]


@pytest.mark.parametrize("length", [-1, 0, 0x7FFFFFFF])
def test_impossible_size_is_an_error(length: int) -> None:
    data = WHOLE[:8] + length.to_bytes(4, signed=True) + WHOLE[12:]

    with pytest.raises(WireError, match=r"^one:1: a batch of .* bytes, which none can have"):
        [*BatchParser(ENDPOINT).batches(data, 0)]
