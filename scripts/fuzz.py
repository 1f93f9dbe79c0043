"""Run the fuzz campaigns, each for some time from a seed; add a line for each to the log of hours.

`python scripts/fuzz.py --seconds 600 --rounds 6 --seed 7 engines costs`, an hour each; without
names, all of them. A round has the next seed: a run that was cut off goes on with its seed.
Findings of the engines are made smaller and kept in tests/data/engine, where a test tries them
again; other campaigns name the seed that shows a finding first, for a test of its own.
`core/native/fuzz/run.sh` is the coverage-guided one.
"""

import argparse
import csv
import os
import re
import resource
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
    "engines": Campaign("", "", ""),  # a program of its own, which goes on after a finding
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
    parser.add_argument("--rounds", type=int, default=1, help="of all campaigns, each a seed later")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    asked = parser.parse_args()
    if unknown := set(asked.names).difference(CAMPAIGNS):
        parser.error(f"there is no campaign {', '.join(sorted(unknown))}")
    failed = 0
    for seed in range(asked.seed, asked.seed + asked.rounds):
        for name in asked.names or CAMPAIGNS:
            failed += not _run(name, asked.seconds, seed)
    return min(failed, 1)


def _run(name: str, seconds: float, seed: int) -> bool:
    """Run a campaign, log it, and tell whether it found nothing."""
    campaign = CAMPAIGNS[name]
    amount = str(max(int(seconds * campaign.cases_a_second), 1))
    begun, cpu = time.monotonic(), _cpu()
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report")
        if name == "engines":
            words = ["tests.helpers.engine.fuzzing", "--seconds", amount, "--seed", str(seed)]
            words += ["--keep", "--report", report]
            variables: dict[str, str] = {}
        else:
            words = ["pytest", "-q", "--timeout=0", f"--junitxml={report}", campaign.tests]
            variables = {campaign.seed: str(seed), campaign.amount: amount}
        command = [sys.executable, "-m", *words]
        done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, check=False)
        cases = _cases(report, amount)
    with LOG.open("a", newline="") as file:
        took = round(time.monotonic() - begun)
        outcome = "nothing" if done.returncode == 0 else "something"
        row = [time.strftime("%Y-%m-%d"), name, seed, cases, took, round(_cpu() - cpu), outcome]
        csv.writer(file, lineterminator="\n").writerow(row)
    return done.returncode == 0


def _cpu() -> float:
    """Return the seconds of CPU of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cases(report: str, amount: str) -> str:
    """Return how many cases the tests say they tried; else how many they were to try."""
    found = re.search(r'name="cases" value="(\d+)"', Path(report).read_text())
    return found[1] if found else amount


if __name__ == "__main__":
    sys.exit(main())
