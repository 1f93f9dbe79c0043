"""`kafka-cluster describe`: brokers, quorum, features and lag, once or repeatedly."""

from __future__ import annotations

import time
from dataclasses import dataclass

from kraftops.answers.fields import json_of
from kraftops.errors import AnswerError, KraftopsError, WireError
from kraftops.wire.rpc.error_codes import may_pass
from kraftops_cli.cluster.description import Chosen, KeptAnswers, ask_description
from kraftops_cli.cluster.description_fields import DESCRIPTION
from kraftops_cli.cluster.description_output import description_text
from kraftops_cli.cluster.options import TargetOptions, ids_option, subcommand
from kraftops_cli.cluster.target import Target, target_of
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.syntax.values import Seconds
from kraftops_cli.terminal.streams import Terminal

EXAMPLES = (
    ("all that controllers know", "kafka-cluster describe -C localhost:9093"),
    ("every five seconds", "kafka-cluster describe -b localhost:9092 --watch 5"),
    ("brokers that are gone", "kafka-cluster describe -C localhost:9093 --fenced --rack r1"),
)

SECTIONS = (
    (
        "Screen",
        """\
With --watch on a terminal, brokers, quorum, counts of partitions with their history, and the last
changes are on a screen of their own. Keys: arrows, Page Up, Page Down, Home and End choose a
broker, and Enter shows its partitions, the worst first, and its changes of the last hour. p shows
all partitions with a problem, c all changes, o operations; these need the metadata log
(--bootstrap-controller), but for operations. / filters brokers by words in id, state, rack and
release, or lines of a page; Escape leads back. s sorts brokers by another column (S by the one
before), r reverses the order, the space bar pauses, ? shows more keys on the last line, q quits.
These keys are those of `browse` and of `dump-log --summary --follow`, too. The
screen stays while no controller answers, and tells for how long. Questions take at most a tenth of
a core: in a large cluster they are asked less often. Elsewhere each description is printed below
the one before.""",
    ),
)


@dataclass(frozen=True, kw_only=True)
class DescribeOptions(TargetOptions):
    """The values of the options."""

    ids: tuple[int, ...] = ids_option(
        metavar="ID[,ID|-ID…]", text="Only these brokers; may be given more than once."
    )
    racks: tuple[str, ...] = option(
        "--rack",
        metavar="RACK",
        multiple=True,
        help="Only brokers of this rack; may be given more than once.",
    )
    fenced: bool = option("--fenced", is_flag=True, help="Only brokers that are fenced.")
    watch: float | None = option(
        "--watch",
        metavar="[SECONDS]",
        type=Seconds(),
        is_flag=False,
        flag_value="2",
        help="Repeat it after this time (2), until interrupted; on a terminal as a screen, see"
        " below. --format json prints an object on a line each time.",
    )


@subcommand(
    DescribeOptions,
    sections=SECTIONS,
    answer="kraftops_cli.cluster.description_fields:DESCRIPTION",
    examples=EXAMPLES,
    help="""\
Show the brokers and their states, the quorum and its leader, features, and the lag of replicas.

-C shows everything, from the metadata log, and needs CLUSTER_ACTION on the cluster besides DESCRIBE
and ALTER. -b shows the knowledge of a broker, and needs DESCRIBE for the quorum. A dash stands for
a value that the node does not know, or that the user may not see.""",
)
def describe(terminal: Terminal, options: DescribeOptions) -> int:
    """Run the subcommand; return its exit code."""
    target, watch = target_of(terminal, options), options.watch
    chosen = Chosen(
        frozenset(options.ids) or None, frozenset(options.racks) or None, options.fenced
    )
    if watch is not None and options.form == "text" and terminal.console.has_screen:
        from kraftops_cli.cluster.watch.run import watch_screen

        return watch_screen(terminal, target, chosen, watch)
    printer = _Printer(terminal, options.form, chosen, has_time=watch is not None)
    if watch is None:
        printer.describe(target)
        return 0
    while True:
        try:
            printer.describe(target)
        except WireError as error:
            if not may_pass(error):
                raise
            terminal.error(error.message, error.hint)
        terminal.flush()
        time.sleep(watch)
        target = target.restarted()


class _Printer:
    """Printer of descriptions; notes about missing permissions precede the first one."""

    def __init__(self, terminal: Terminal, form: str, chosen: Chosen, *, has_time: bool) -> None:
        self._chosen = chosen
        self._kept = KeptAnswers()
        self._terminal = terminal
        self._form = form
        self._has_time = has_time
        self._is_first = True

    def describe(self, target: Target) -> None:
        """Print the description of a cluster.

        Raises:
            WireError: there is no answer; or, after the rest is printed, none about the quorum.
        KraftopsError: after the rest is printed, a broker that was named is not there.
        """
        description = ask_description(target, self._note, kept=self._kept, chosen=self._chosen)
        if self._form == "text":
            text = description_text(description, self._terminal.console)
            self._terminal.write(self._time_line() + text)
        else:
            # A watch never ends: each description is an object of its own.
            answer = self._terminal.json if self._has_time else self._terminal.answer
            answer("describe", json_of(DESCRIPTION.fields, description))
        self._is_first = False
        if description.quorum_error:
            raise description.quorum_error
        if (unlisted := description.unlisted()) and not self._has_time:
            names = ", ".join(map(str, unlisted))
            message = f"no broker has the id{'s' * (len(unlisted) > 1)} {names}"
            raise KraftopsError(message, code="broker-not-registered", brokerIds=unlisted)

    def _note(self, part: str, error: AnswerError) -> None:
        if self._is_first:
            self._terminal.error(f"note: {part}: {error.message}", error.hint)

    def _time_line(self) -> str:
        """Return a line with the time, if wanted, after an empty line unless it is the first."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ\n", time.gmtime()) if self._has_time else ""
        return now if self._is_first or not now else f"\n{now}"
