"""The peak memory of each command that reads batches which inflate to much.

Whole processes; `tests/cli/test_memory_budget.py` runs the same with `KRAFTOPS_BOMBS=1`.
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.measure.rows import Row
from tests.helpers.costs.bombed import (
    CASES,
    bombed_quorum,
    ended,
    lay_out,
    most_of_dump,
)
from tests.helpers.costs.bombs import FORMS, PLACES, WITHIN, bomb, is_possible
from tests.helpers.logs.costly_files import measured
from tests.helpers.tools.console import DUMP_LOG

_SHOWN = 12  # of the rows of all commands: the others are not worse


def rows(only: str, codecs: list[str]) -> Iterator[Row]:
    """Yield the worst rows of the cases whose names match, of any codec."""
    worst: dict[str, tuple[int, int, str]] = {}
    for codec in codecs:
        for measure in (_dumps, _commands):
            with tempfile.TemporaryDirectory() as scratch:
                for name, peak, most in measure(codec, only, Path(scratch)):
                    worst[name] = max(worst.get(name, (0, 0, "")), (peak, most, codec))
    ordered = sorted(worst.items(), key=lambda item: -item[1][0] / item[1][1])
    for name, (peak, most, codec) in ordered[:_SHOWN]:
        title = f"62 MiB of {codec}: {name}"
        achieved = f"{peak >> 20} MiB"
        yield Row(peak / most, title, f"≤ {most >> 20} MiB", achieved, "", achieved)


def _dumps(codec: str, only: str, place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield name, peak and limit of each form of a dump for each bomb of a codec."""
    log = place / f"{0:020}.log"
    for where in PLACES:
        if not is_possible(where, codec):
            continue
        log.write_bytes(bomb(where, WITHIN, codec))
        for form, words in FORMS.items():
            if re.search(only, name := f"{where} as {form}"):
                _, peak = measured("", DUMP_LOG, *words, str(log), keeps_output=False, cwd=place)
                yield name, peak, most_of_dump(where, form)


def _commands(codec: str, only: str, place: Path) -> Iterator[tuple[str, int, int]]:
    """Yield the same of each other command for the bombs of a codec."""
    lay_out(place, codec)
    with bombed_quorum(codec) as address:
        for name, case in CASES.items():
            if re.search(only, name):
                _, peak = ended(case, place, address)
                yield name, peak, case.most
