"""The differential fuzzer for the command line; it makes findings smaller.

`python -m tests.helpers.engine.fuzzing --seconds 3600 --seed 1`; with --keep, findings are written below
tests/data/engine, where a test tries them again.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.helpers.engine.cases import Case, case, outcome
from tests.helpers.engine.findings import KEPT, from_bytes, plain, shape_of, smaller, to_bytes

_TOLD = 300  # seconds
_SHOWN = 2000  # hexadecimal digits of a log


def print_line(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def made_small(one: Case, text: str) -> Case:
    """Return a smaller case with the finding *text* of this one, and print it."""
    shape = shape_of(text)
    small = smaller(one, lambda other: shape_of(outcome(other)) == shape)
    print_line(f"--- {one.note}\n{outcome(small)}\n{json.dumps(plain(small))}")
    print_line(f"{small.trial.data.hex()[:_SHOWN]}\n")
    return small


def main() -> int:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", type=int, default=3, help="findings of one shape that are shown")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--report", type=Path, help="a file for the number of cases")
    parser.add_argument("--replay", type=Path, nargs="*", default=[])
    asked = parser.parse_args()
    for path in asked.replay:
        print_line(f"{path}: {outcome(from_bytes(path.read_bytes())) or 'equal'}")
    if asked.replay:
        return 0
    kinds: Counter[str] = Counter()
    shapes: Counter[str] = Counter()
    begun = told = time.monotonic()
    number = 0
    while time.monotonic() - begun < asked.seconds:
        one = case(asked.seed * 1_000_000_000 + number)
        number += 1
        kinds[f"{one.trial.query.decoder} {one.trial.query.form}"] += 1
        text = outcome(one)
        if text:
            shape = shape_of(text)
            shapes[shape] += 1
            if shapes[shape] <= asked.each:
                small = made_small(one, text)
                if asked.keep:
                    (KEPT / f"seed-{one.note.split()[1].strip(',')}.bin").write_bytes(
                        to_bytes(small)
                    )
        if time.monotonic() - told > _TOLD:
            told = time.monotonic()
            print_line(f"{number} cases in {told - begun:.0f} s; findings: {dict(shapes)}")
    print_line(f"{number} cases in {time.monotonic() - begun:.0f} s; findings: {dict(shapes)}")
    print_line(f"{dict(sorted(kinds.items()))}")
    if asked.report:
        asked.report.write_text(f'name="cases" value="{number}"')
    return bool(shapes)


if __name__ == "__main__":
    sys.exit(main())
