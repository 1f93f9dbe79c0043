"""Signals that end a process, as exceptions."""

import subprocess
import sys

_IN_A_FINALIZER = """
import os, time, weakref
from kraftops_terminal.ending import raise_at_signals

class Held: pass

raise_at_signals()
held = Held()
weakref.finalize(held, lambda: os.kill(os.getpid(), {number}))
try:
    del held
    time.sleep(20)
finally:
    print("cleaned")
"""


def test_signal_in_a_finalizer_is_not_lost() -> None:
    """Python drops the exceptions of finalizers, with a traceback."""
    program = [sys.executable, "-c", _IN_A_FINALIZER.format(number=15)]

    done = subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (128 + 15, "cleaned\n", "")
