"""Count the batches of a log that the compiled engine leaves to the reference.

    python tests/bench/declined.py LOG [OPTION OF kafka-dump-log …]

Prints how many of how many: of the very command that is measured, but in a process that counts.
"""

import os
import sys
from collections.abc import Iterator

from kraftops.engine.choice import engine_name
from kraftops.engine.reference.scan import ReferenceScan
from kraftops.engine.scan_contract import Outcome
from kraftops.log.batch import Batch
from kraftops.log.log_file import LogFile
from kraftops_cli.dump_log.command import dump_log
from kraftops_cli.main import run
from kraftops_cli.terminal.streams import Terminal


def main() -> None:
    """Count in the log that the command line names."""
    log, *options = sys.argv[1:]
    left, add = 0, ReferenceScan.add

    def counted(scan: ReferenceScan, batch: Batch, *, waits: bool = False) -> Iterator[Outcome]:
        nonlocal left
        left += 1
        return add(scan, batch, waits=waits)

    ReferenceScan.add = counted  # type: ignore[assignment, method-assign]
    with LogFile(log) as file:
        batches = sum(1 for _ in file.batches())
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["kafka-dump-log", *options, "--jobs", "1", "--files", log]
    code = run(dump_log, "kafka-dump-log", Terminal("kafka-dump-log"))
    if code:
        raise SystemExit(code)
    os.write(answer, b"%d %d\n" % (left if engine_name() == "native" else batches, batches))


if __name__ == "__main__":
    main()
