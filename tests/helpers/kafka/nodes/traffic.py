"""Traffic on topics while a test changes the cluster: a producer, and a consumer that counts.

Both run in a process of their own, as in `contents`.
"""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

_END_SECONDS = 90
_PAUSE_SECONDS = 0.02


class Count(NamedTuple):
    """Records that Kafka acknowledged, those whose sending failed, and acknowledged ones lost."""

    acknowledged: int
    failed: int
    lost: int


class Traffic:
    """A running producer and consumer."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def end(self) -> Count:
        """End the producer, and return the count when the consumer has read on to the end."""
        out, err = self._process.communicate("\n", timeout=_END_SECONDS + 60)
        assert self._process.returncode == 0, err[-3000:]
        return Count(*json.loads(out.splitlines()[-1]))


@contextmanager
def traffic(address: str, partitions: Mapping[str, int]) -> Iterator[Traffic]:
    """Write to all partitions of topics, in turn, and read them, until it is ended."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, address, json.dumps({**partitions})]
    with subprocess.Popen(
        command,
        cwd=Path(__file__).parents[4],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "begun\n"
            yield Traffic(process)
        finally:
            process.kill()


class _Consumer(threading.Thread):
    """Reads all partitions from their beginning."""

    def __init__(self, address: str, partitions: Mapping[str, int]) -> None:
        super().__init__(daemon=True)
        self._address = address
        self._partitions = partitions
        self.seen: set[int] = set()
        self.is_over = False

    def run(self) -> None:
        from kafka import KafkaConsumer, TopicPartition

        consumer = KafkaConsumer(
            bootstrap_servers=self._address,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            metadata_max_age_ms=1000,
        )
        names = [
            TopicPartition(t, n) for t, count in self._partitions.items() for n in range(count)
        ]
        consumer.assign(names)
        while not self.is_over:
            for batch in consumer.poll(timeout_ms=500).values():
                self.seen.update(int(each.value.split()[0]) for each in batch)


def _run(address: str, partitions: dict[str, int], ends: IO[str]) -> Count:
    from kafka import KafkaProducer
    from kafka.errors import KafkaError

    consumer = _Consumer(address, partitions)
    consumer.start()
    producer: Any = KafkaProducer(
        bootstrap_servers=address, acks="all", retries=1000, metadata_max_age_ms=1000,
        delivery_timeout_ms=60_000, request_timeout_ms=5_000, linger_ms=5, max_block_ms=60_000,
    )  # fmt: skip
    stop = threading.Event()
    threading.Thread(target=lambda: (ends.readline(), stop.set()), daemon=True).start()
    names = [(topic, n) for topic, count in partitions.items() for n in range(count)]
    sent = {}
    number = 0
    while not stop.is_set():
        topic, partition = names[number % len(names)]
        try:
            sent[number] = producer.send(
                topic, b"%d %s" % (number, b"x" * 500), partition=partition
            )
        except KafkaError:
            sent[number] = None
        if number == len(names):
            producer.flush(60)
            sys.stdout.write("begun\n")
            sys.stdout.flush()
        number += 1
        time.sleep(_PAUSE_SECONDS)
    producer.flush(60)
    acknowledged = {number for number, one in sent.items() if one is not None and one.succeeded()}
    end = time.monotonic() + _END_SECONDS
    while not acknowledged <= consumer.seen and time.monotonic() < end:
        time.sleep(0.2)
    consumer.is_over = True
    failed = len(sent) - len(acknowledged)
    return Count(len(acknowledged), failed, len(acknowledged - consumer.seen))


if __name__ == "__main__":
    json.dump(_run(sys.argv[1], json.loads(sys.argv[2]), sys.stdin), sys.stdout)
