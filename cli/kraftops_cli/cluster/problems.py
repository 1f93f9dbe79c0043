"""`kafka-cluster problems`: partitions that are offline or lack replicas, by their causes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftops_cli.cluster.options import AccessOptions, min_isr_option, subcommand
from kraftops_cli.syntax.option_fields import option
from kraftops_cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kraftops.placement.placement import Placement
    from kraftops.placement.problems import Evidence
    from kraftops.placement.safety import MinIsr
    from kraftops.reassign.access import ClusterAccess
    from kraftops_cli.cluster.problems_fields import Problems
    from kraftops_terminal.console import Console

EXAMPLES = (
    ("what is wrong, and since when?", "kafka-cluster problems -b b:9092 -C c:9093"),
    ("what was wrong in a log?", "kafka-cluster problems --snapshot __cluster_metadata-0"),
)
_SHOWN = 20
_LOOK_SECONDS = 2.0
"""Between two looks at followers: they fetch every 0.5 s at least (replica.fetch.wait.max.ms)."""


@dataclass(frozen=True, kw_only=True)
class ProblemsOptions(AccessOptions):
    """The values of the options."""

    snapshot: str | None = option(
        "--snapshot",
        "-s",
        metavar="SOURCE",
        help="Instead of a cluster: a directory with the metadata log, a snapshot or a segment.",
    )
    min_isr: int | None = min_isr_option()


@subcommand(
    ProblemsOptions,
    answer="kraftops_cli.cluster.problems_fields:PROBLEMS",
    examples=EXAMPLES,
    help="""\
List the partitions that are offline, under their min ISR or under-replicated, by cause: a broker
that is down, a failed log directory, a follower that is behind, a cordon, a reassignment, a min ISR
above the number of replicas; and those that are not led by their preferred replica. Each cause
comes with the command that cures it.

With -b, brokers tell their log directories, and by how many bytes followers are behind; with -C or
--snapshot, the metadata log tells since when. Best give both -b and -C. The exit code is 2 if there
are problems; other leaders and reassignments alone are none.""",
)
def problems(terminal: Terminal, options: ProblemsOptions) -> int:
    """Run the subcommand; return its exit code."""
    from kraftops.answers.fields import json_of
    from kraftops.placement.problems import find_problems
    from kraftops_cli.cluster.moving.access import refuse_together, work_of
    from kraftops_cli.cluster.problems_fields import PROBLEMS, Problems
    from kraftops_cli.terminal.answer import print_answer

    brokers, snapshot = options.bootstrap_server, options.snapshot
    refuse_together({"--snapshot": snapshot, "--bootstrap-server": brokers})
    refuse_together({"--snapshot": snapshot, "-C": options.bootstrap_controller})
    if snapshot is not None:
        facts = _in_log(snapshot, options.min_isr)
    else:
        with work_of(terminal, options, needs_brokers=False).access as access:
            facts = _in_cluster(access, options.min_isr)
    answer = Problems(find_problems(*facts), brokers or "HOST:PORT")
    print_answer(
        terminal,
        options.form,
        "problems",
        lambda: json_of(PROBLEMS.fields, answer),
        lambda: _lines(answer, terminal.console),
    )
    return answer.exit_code


def _in_log(source: str, default: int | None) -> tuple[Placement, dict[str, MinIsr], Evidence]:
    from kraftops.image.load.loading import load
    from kraftops.placement.metadata_facts import facts_of
    from kraftops.placement.placement import placement_of
    from kraftops.placement.problems import Evidence
    from kraftops.reassign.min_isr import logged_min_isr

    image = load(source)
    placement = placement_of(image)
    needed = logged_min_isr(image, image.sorted_topics, default)
    return placement, needed, Evidence(log=facts_of(image, placement))


def _in_cluster(
    access: ClusterAccess, default: int | None
) -> tuple[Placement, dict[str, MinIsr], Evidence]:
    from kraftops.placement.metadata_facts import MetadataFacts, facts_of
    from kraftops.placement.problems import Evidence
    from kraftops.reassign.disks import disks_of
    from kraftops.reassign.min_isr import min_isr_of_topics

    placement = access.placement()
    if not access.sees_all():
        access.note("topics may be hidden: the user may not do everything on the cluster")
    needed = min_isr_of_topics(access, placement, default)
    image = access.metadata()
    facts = MetadataFacts() if image is None else facts_of(image, placement)
    if access.brokers is None:
        return placement, needed, Evidence(log=facts)
    disks = disks_of(access, placement)
    later = disks
    if disks and any(
        len(replicas.isr) < len(replicas.replicas) for replicas in placement.partitions.values()
    ):
        time.sleep(_LOOK_SECONDS)
        later = disks_of(access, placement)
    return placement, needed, Evidence(disks, later, facts)


def _lines(answer: Problems, console: Console) -> Iterator[str]:
    from kraftops.placement.problems import State
    from kraftops_cli.cluster.problems_fields import AFFECTED, cause_text, cure_of
    from kraftops_terminal.escaping import escaped
    from kraftops_terminal.tables import table_of, table_text

    counts = answer.counts
    yield (
        f"offline: {counts[State.OFFLINE]}, under min ISR: {counts[State.UNDER_MIN_ISR]},"
        f" under-replicated: {counts[State.UNDER_REPLICATED]}, not led by the preferred replica:"
        f" {counts[State.OTHER_LEADER]}\n"
    )
    for problem in answer.causes:
        yield f"\n{escaped(cause_text(problem))}\n"
        if problem.change:
            change = problem.change
            yield f"by {change.record} at offset {change.offset} of the metadata log\n"
        yield table_text(console, table_of(AFFECTED, problem.affected[:_SHOWN]))
        if len(problem.affected) > _SHOWN:
            yield f"and {len(problem.affected) - _SHOWN} more\n"
        cure = cure_of(problem, answer.brokers)
        yield f"cure: {escaped(': '.join(filter(None, (cure.text, '; '.join(cure.commands)))))}\n"
