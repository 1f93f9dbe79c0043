"""What a start makes of thousands of damaged partitions, foretold and by Kafka's own loader.

`python -m tests.helpers.kafka.loader.comparison --count 20000 --seed 1 --release 4.3.1` shows each
difference with the fewest faults that still make it.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from kraftops.server.loader.contract import Consequence, DiskFolder, LoadOutcome
from kraftops.server.loader.partition import foretell_partition
from kraftops.uuids import to_text
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.loader.faults import WEIGHTS, Fault
from tests.helpers.kafka.loader.kafka_loader import KafkaLoader
from tests.helpers.kafka.loader.partitions import Partition, random_partition

_DIRECTORY_OFFLINE = ("java.io.", "java.nio.file.", "org.apache.kafka.common.errors.KafkaStorage")


class Case(NamedTuple):
    """A damaged partition that can be made again: a seed, and faults with their own seeds."""

    seed: int
    faults: tuple[tuple[Fault, int], ...]
    release: str

    def partition(self) -> Partition:
        """Return the partition."""
        partition = random_partition(Random(self.seed), self.release)
        for fault, seed in self.faults:
            if partition.bases or fault.__name__ in ("odd_name", "odd_metadata"):
                fault(Random(seed), partition)
        return partition

    def __str__(self) -> str:
        names = " ".join(f"{fault.__name__}:{seed}" for fault, seed in self.faults)
        return f"{self.seed} {names or 'no fault'}"


def cases(seed: int, count: int, release: str) -> Iterator[Case]:
    """Yield cases: one fault, or two in a third of them."""
    rng = Random(seed)
    kinds, weights = list(WEIGHTS), list(WEIGHTS.values())
    for _ in range(count):
        faults = rng.choices(kinds, weights, k=rng.choice((1, 1, 2)))
        yield Case(
            rng.getrandbits(32),
            tuple((fault, rng.getrandbits(32)) for fault in faults),
            release,
        )


class Difference(NamedTuple):
    """A case in which Kafka and the foretelling do not agree: values by name, Kafka's first."""

    case: Case
    values: dict[str, tuple[Any, Any]]
    answer: dict[str, Any]
    outcome: LoadOutcome | Exception

    def __str__(self) -> str:
        lines = [f"{self.case}"]
        for name, (kafka, ours) in self.values.items():
            lines.append(f"  {name}: Kafka {kafka}, foretold {ours}")
        lines.append(f"  Kafka: {self.answer.get('error')} {self.answer.get('message')}")
        refusal = self.outcome if isinstance(self.outcome, Exception) else self.outcome.refusal
        lines.append(f"  foretold: {refusal!r}")
        return "\n".join(lines)


class Comparison:
    """Asks both about cases, in a folder of its own."""

    def __init__(self, loader: KafkaLoader, folder: Path) -> None:
        """Count nothing yet."""
        self._loader, self._folder = loader, folder
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()

    def difference(self, case: Case) -> Difference | None:
        """Return how the answers differ."""
        partition = case.partition()
        path = partition.write(self._folder / "partition")
        try:
            folder = DiskFolder(str(path))
            outcome: LoadOutcome | Exception
            try:
                outcome = foretell_partition(folder, partition.request)
            except Exception as error:  # noqa: BLE001 - it is what differs
                outcome = error
            answer = self._loader.load(path, partition.request)
        finally:
            shutil.rmtree(self._folder / "partition")
        return self._compared(case, answer, outcome, folder)

    def count(self, case: Case) -> Difference | None:
        """Count a case, and return how the answers differ."""
        difference = self.difference(case)
        request = random_partition(Random(case.seed), case.release).request
        self.counts["partitions"] += 1
        self.counts["clean"] += request.was_clean
        for fault, _ in case.faults:
            self.kinds[fault.__name__] += 1
        is_refused = self._is_refused
        self.counts["refused"] += is_refused
        self.counts["differences"] += difference is not None
        self.counts["refused and different"] += is_refused and difference is not None
        return difference

    def _compared(
        self,
        case: Case,
        answer: dict[str, Any],
        outcome: LoadOutcome | Exception,
        folder: DiskFolder,
    ) -> Difference | None:
        self._is_refused = not answer["starts"]
        if isinstance(outcome, Exception):
            return Difference(case, {"failure": (None, outcome)}, answer, outcome)
        values: dict[str, tuple[Any, Any]] = {
            "consequence": (_consequence(answer), outcome.consequence),
            "files": (answer["files"], sorted({*outcome.files, *folder.directories})),
        }
        if answer["starts"] and outcome.starts:
            values |= {
                "start": (answer["startOffset"], outcome.log_start_offset),
                "local start": (answer["localStartOffset"], outcome.local_start_offset),
                "end": (answer["endOffset"], outcome.end_offset),
                "segments": (answer["segments"], len(outcome.segments)),
                "topic id": (answer["topicId"], outcome.topic_id and to_text(outcome.topic_id)),
                "latest epoch": (answer["latestEpoch"], outcome.latest_epoch),
            }
        elif outcome.refusal and not answer["starts"]:
            values["exception"] = (answer["error"], outcome.refusal.java_class)
        unequal = {name: pair for name, pair in values.items() if pair[0] != pair[1]}
        if "files" in unequal:
            kafka, ours = (set(names) for names in unequal["files"])
            unequal["files"] = (sorted(kafka - ours), sorted(ours - kafka))
        return Difference(case, unequal, answer, outcome) if unequal else None

    def shrunk(self, difference: Difference) -> Difference:
        """Return the difference of fewer faults, if they still differ."""
        for index in range(len(difference.case.faults)):
            faults = difference.case.faults
            fewer = difference.case._replace(faults=faults[:index] + faults[index + 1 :])
            if smaller := self.difference(fewer):
                return self.shrunk(smaller)
        return difference


def _consequence(answer: dict[str, Any]) -> Consequence:
    if answer["starts"]:
        return Consequence.LOADS
    is_of_directory = answer["error"].startswith(_DIRECTORY_OFFLINE)
    return Consequence.DIRECTORY_OFFLINE if is_of_directory else Consequence.BROKER_DIES


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare as many partitions as asked, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--release", default="4.3.1")
    parser.add_argument("--show", type=int, default=10, help="differences that are shown")
    options = parser.parse_args(arguments)
    write = sys.stdout.write
    scratch = Path("/dev/shm")
    with (
        tempfile.TemporaryDirectory(dir=scratch if scratch.is_dir() else None) as folder,
        KafkaLoader(resolved_jars(options.release)) as loader,
    ):
        comparison = Comparison(loader, Path(folder))
        for case in cases(options.seed, options.count, options.release):
            difference = comparison.count(case)
            if difference and comparison.counts["differences"] <= options.show:
                write(f"{comparison.shrunk(difference)}\n")
        counts = comparison.counts
        for name, count in counts.items():
            write(f"{name}: {count}\n")
        kind, most = comparison.kinds.most_common(1)[0]
        share = 100 * most / comparison.kinds.total()
        write(f"kinds of faults: {len(comparison.kinds)}, most often {kind}, {share:.1f} %\n")
    return int(counts["differences"] > 0)


if __name__ == "__main__":
    sys.exit(main())
