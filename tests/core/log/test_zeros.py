"""Tests of blocks of zeros."""

import pytest

from kraftops.log.zeros import are_zeros, zeros_end

BLOCK = 1 << 16


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_zeros_are_told_from_all_else(size: int) -> None:
    assert are_zeros(bytes(size))
    for at in {0, size // 2, size - 1} if size else ():
        data = bytearray(size)
        data[at] = 1
        assert not are_zeros(bytes(data))


def test_whole_blocks_before_the_end_are_passed() -> None:
    data = b"\1" + bytes(2 * BLOCK) + b"\1"

    assert zeros_end(data, 1, len(data)) == 1 + 2 * BLOCK
    assert zeros_end(data, 1, 2 * BLOCK) == 1 + BLOCK
    assert zeros_end(data, 0, len(data)) == 0
