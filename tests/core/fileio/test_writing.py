"""Output is written whole, in blocks."""

import os
import threading

from kraftops.fileio.writing import Chunks, write_all


def test_all_is_written_to_a_descriptor_that_does_not_block() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    data = os.urandom(1 << 20)
    received = bytearray()

    def read() -> None:
        while block := os.read(reading, 1 << 16):
            received.extend(block)

    reader = threading.Thread(target=read)
    reader.start()
    write_all(writing, data)
    os.close(writing)
    reader.join()
    os.close(reading)

    assert received == data


def test_small_pieces_are_joined_into_blocks() -> None:
    blocks: list[bytes] = []
    chunks = Chunks(blocks.append)

    for _ in range(5000):
        chunks.add(b"x" * 100)
    chunks.add("caf\u00e9\udcff")
    chunks.flush()
    chunks.flush()

    assert b"".join(blocks) == b"x" * 500_000 + b"caf\xc3\xa9\xff"
    assert len(blocks) == 2
