"""Run the fuzz campaigns, each for some time from a seed; add a line for each to the log of hours.

`python scripts/fuzz.py --seconds 3600 engines damaged-segments`; without names, all of them.
Findings of the engines are kept in tests/data/engine by `python -m tests.helpers.engine.fuzzing
--keep`; other campaigns name the seed that shows a finding first, for a test of its own.
`core/native/fuzz/run.sh` is the coverage-guided one.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / "tests" / "data" / "fuzz.csv"


class Campaign(NamedTuple):
    """Tests that try random cases: as many as a variable says, or as many seconds."""

    tests: str
    seed: str
    amount: str
    cases_a_second: float = 1
    """How the amount follows from the time: 1 where it is in seconds."""


CAMPAIGNS = {
    "engines": Campaign(
        "tests/engine/test_fuzz.py::test_engines_agree",
        "KRAFTOPS_FUZZ_SEED",
        "KRAFTOPS_FUZZ_SECONDS",
    ),
    "damaged-segments": Campaign(
        "tests/core/dump/scan/test_fuzz.py::test_damaged_segments_are_dumped",
        "KRAFTOPS_FUZZ_SEED",
        "KRAFTOPS_FUZZ_SECONDS",
    ),
    "costs": Campaign("tests/cli/test_costs.py", "KRAFTOPS_FUZZ_SEED", "KRAFTOPS_FUZZ_SECONDS"),
    "folds": Campaign(
        "tests/engine/test_fold_agreement.py", "KRAFTOPS_FUZZ_SEED", "KRAFTOPS_FUZZ_FOLDS", 30
    ),
    "timelines": Campaign(
        "tests/engine/test_timeline.py", "KRAFTOPS_FUZZ_SEED", "KRAFTOPS_FUZZ_FOLDS", 30
    ),
    "kafka-damaged-files": Campaign(
        "tests/kafka/dump_log/test_damaged_files.py",
        "KRAFTOPS_FUZZ_SEED_KAFKA",
        "KRAFTOPS_FUZZ_SECONDS_KAFKA",
    ),
    "kafka-images": Campaign(
        "tests/kafka/image/test_same_image.py",
        "KRAFTOPS_FUZZ_SEED_KAFKA",
        "KRAFTOPS_FUZZ_LOGS_KAFKA",
        60,
    ),
    "kafka-configs": Campaign(
        "tests/kafka/storage/test_config.py",
        "KRAFTOPS_FUZZ_SEED_KAFKA",
        "KRAFTOPS_CONFIG_CASES",
        10,
    ),
}


def main() -> int:
    """Run the campaigns; return 1 if one found something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--seconds", type=float, default=60, help="of each campaign")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    if unknown := set(asked.names).difference(CAMPAIGNS):
        parser.error(f"there is no campaign {', '.join(sorted(unknown))}")
    failed = 0
    for name in asked.names or CAMPAIGNS:
        failed += not _run(name, asked.seconds, asked.seed)
    return min(failed, 1)


def _run(name: str, seconds: float, seed: int) -> bool:
    """Run a campaign, log it, and tell whether it found nothing."""
    campaign = CAMPAIGNS[name]
    amount = str(max(int(seconds * campaign.cases_a_second), 1))
    variables = {campaign.seed: str(seed), campaign.amount: amount}
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        command = [sys.executable, "-m", "pytest", "-q", "--timeout=0", f"--junitxml={report}"]
        done = subprocess.run(
            [*command, campaign.tests], cwd=ROOT, env=os.environ | variables, check=False
        )
        cases = _cases(report, amount)
    with LOG.open("a", newline="") as file:
        took = round(time.monotonic() - begun)
        outcome = "nothing" if done.returncode == 0 else "something"
        row = [f"{time.strftime('%Y-%m-%d')}", name, seed, cases, took, outcome]
        csv.writer(file, lineterminator="\n").writerow(row)
    return done.returncode == 0


def _cases(report: str, amount: str) -> str:
    """Return how many cases the tests say they tried; else how many they were to try."""
    found = re.search(r'name="cases" value="(\d+)"', Path(report).read_text())
    return found[1] if found else amount


if __name__ == "__main__":
    sys.exit(main())
