"""Measure how fast a session moves through the states of a long metadata log, and the memory of it.

python tests/bench/make_snapshots.py changes OUT_DIR --partitions 100000 --changes 5000000
python tests/bench/travel.py OUT_DIR
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[2]))  # for `tests`, which is not installed

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.image.travel.travel import Travel

_PAGE = 4096


def _ms(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return (perf_counter() - start) * 1000


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def _resident() -> float:
    """Return the MiB of this process in memory (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / (1 << 20)


def _line(what: str, times: list[float]) -> str:
    times.sort()
    return f"{what:32} {times[len(times) // 2]:8.1f} {times[-1]:8.1f}  of {len(times)}"


def main() -> None:
    """Print a line for each kind of move: the median and the longest time in ms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", help="a directory or segment")
    parser.add_argument("--moves", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    random = Random(given.seed)
    loaded: list[MetadataImage] = []
    _print(f"a load alone: {_ms(lambda: loaded.append(load(given.log))):.0f} ms")
    image = loaded.pop()
    last, partitions = image.offset, image.fold.partition_count()
    del image
    before = _resident()
    travel = Travel(given.log)
    _print(f"the first move, to the end: {_ms(travel.at):.0f} ms; {partitions} partitions, @{last}")
    _print(f"states of {travel.bytes / (1 << 20):.0f} MiB, {_resident() - before:.0f} MiB resident")
    _print(f"{'ms':32} {'median':>8} {'longest':>8}")
    points = [random.randrange(last // 50, last) for _ in range(given.moves)]
    _print(_line("at", [_ms(lambda point=point: travel.at(offset=point)) for point in points]))  # type: ignore[misc]
    for what, step in (("next", travel.after), ("prev", travel.before)):
        offset = points[-1]
        times = []
        for _ in range(given.moves):
            start = perf_counter()
            (change,) = step(offset)
            travel.at(offset=change.offset)
            times.append((perf_counter() - start) * 1000)
            offset = change.offset
        _print(_line(f"{what}, again and again", times))
    _print(f"states of {travel.bytes / (1 << 20):.0f} MiB, {_resident() - before:.0f} MiB resident")


if __name__ == "__main__":
    main()
