"""find in two passes over a log, against find in the image of all of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kraftops.errors import KraftopsError
from kraftops.image.loading import limits_of, load
from kraftops.image.replay import Limits
from kraftops.spark.finding import Answer, ReplayWork, ScoutWork, ShareWork, cut_stretches
from kraftops.spark.planning import Split
from kraftops.tree.layout import Has, tree_of
from kraftops_cli.spark_find import Find, State, printed
from kraftops_shell.session import Session as Shell
from tests.console import METADATA_SHELL, Done, run_here
from tests.replays import Taste, log_bytes, random_log
from tests.rowlogs import EVERY_LOG, decoder_of
from tests.segments import IN

LOG = str(IN / "meta/00000000000000000000.log")
METADATA_LOGS = [str(path) for path in EVERY_LOG if decoder_of(path) == "metadata"]


@dataclass
class Known:
    """Stands for a broadcast."""

    value: Any


def in_groups(path: str, words: Sequence[str], count: int, limits: Limits) -> tuple[list[str], int]:
    """Return the lines of find and how many records failed, by the work of Spark's tasks."""
    state = State(path, None, None, "kafka", False, False, "")
    (scouted,) = ScoutWork((path,), limits, "kafka")([Split(0, (), 0)])
    known = Known(scouted)
    shares = list(ShareWork(known, count, "kafka")(cut_stretches(scouted.stretches)))
    Random(1).shuffle(shares)  # a shuffle keeps no order
    shares.sort(key=itemgetter(0))
    work = ReplayWork(known, count, "kafka", Find(tuple(words), state))
    found = [one for _, some in groupby(shares, key=itemgetter(0)) for one in work(some)]
    failed = sum(map(itemgetter(2), found))
    lines = sorted((key, line) for key, line, _ in found if line)
    answer = Answer(iter(lines), scouted.findings, failed)
    text = "\n".join(printed(tuple(words), state, answer, set()))
    return text.split("\n"), failed


def at_once(path: str, words: Sequence[str], limits: Limits) -> tuple[list[str], int]:
    """Return the same by the image of the whole log."""
    at = None if limits.until == Limits().until else limits.until
    time = None if limits.time == Limits().time else limits.time
    image = load(path, at_offset=at, at_time=time)
    out: list[str] = []
    shell = Shell(tree_of(image, form=Has.OURS), out.append, out.append, False, is_one_shot=True)
    shell.run(words)
    return "".join(out).removesuffix("\n").split("\n"), len(image.record_findings)


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("count", [1, 3, 50])
def test_random_logs(tmp_path: Path, seed: int, count: int) -> None:
    """Names that change topics, transactions, what cannot be applied, and time travel."""
    random = Random(seed)
    path = tmp_path / "00000000000000000000.log"
    log = random_log(random) if seed % 2 else random_log(random, Taste(runs=False))
    path.write_bytes(log_bytes(log))
    last = log[-1].end
    travels = [Limits(), limits_of(random.randrange(last), None)]
    times = [record.timestamp for lot in log for record in lot.records]
    travels.append(limits_of(None, random.choice(times)))
    for limits in travels:
        try:
            expected = at_once(str(path), ["find", "/"], limits)
        except KraftopsError as error:
            with pytest.raises(type(error)):
                in_groups(str(path), ["find", "/"], count, limits)
            continue

        assert in_groups(str(path), ["find", "/"], count, limits) == expected


@pytest.mark.parametrize("path", METADATA_LOGS, ids=lambda path: str(Path(path).relative_to(IN)))
def test_logs_of_the_corpus(path: str) -> None:
    try:
        expected = at_once(path, ["find", "/image"], Limits())
    except KraftopsError as error:
        with pytest.raises(type(error), match=re.escape(error.message)):
            in_groups(path, ["find", "/image"], 5, Limits())
        return

    assert in_groups(path, ["find", "/image"], 5, Limits()) == expected


def same(*args: str, spark: Sequence[str] = ()) -> Done:
    """Compare find on Spark with the local one: all that is said, and the code."""
    local = run_here(*args, program=METADATA_SHELL)

    done = run_here("--spark", *spark, *args, program=METADATA_SHELL)

    assert (done.code, done.text, done.err) == (local.code, local.text, local.err)
    return done


@pytest.mark.spark
@pytest.mark.usefixtures("session")
class TestOnSpark:
    """The whole way, by the command line."""

    groups = ("--conf", "spark.kraftops.groups=7")

    @pytest.mark.parametrize("form", ["json", "kafka"])
    def test_everything(self, form: str) -> None:
        done = same("-s", LOG, "--format", form, "find", "/", spark=self.groups)

        assert done.text.count("\n") > 200

    @pytest.mark.parametrize(
        "words",
        [
            ["/image/topics/byName/*/0"],
            ["/nothing", "/image/configs", "/image/top*"],
            ["/image", "-maxdepth", "2"],
            ["/", "-type", "f", "-name", "*1"],
            ["/image/topics/byName", "-value", "leader"],
        ],
    )
    def test_targets_and_tests(self, words: list[str]) -> None:
        same("-s", LOG, "--format", "json", "find", *words, spark=self.groups)

    def test_directory_with_a_snapshot(self) -> None:
        folder = IN / "meta"

        same("-s", str(folder), "--format", "json", "--at-offset", "100", "find", "/image")

    def test_other_commands_are_refused(self) -> None:
        done = run_here("--spark", "-s", LOG, "ls", "/", program=METADATA_SHELL)

        assert done.code == 1
        assert done.errors[0].endswith("with --spark there is only find")

    def test_missing_log(self, tmp_path: Path) -> None:
        done = run_here(
            "--spark", "-s", str(tmp_path / "0.log"), "find", "/", program=METADATA_SHELL
        )

        assert done.code == 1
        assert "cannot read" in done.err
        assert len(done.errors) == 1
