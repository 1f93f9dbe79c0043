"""`kafka-cluster problems`: partitions that are offline or lack replicas, by their causes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from kraftops.image.load.loading import load
from kraftops.placement.metadata_facts import MetadataFacts, facts_of
from kraftops.placement.placement import Placement, placement_of
from kraftops.placement.problems import Evidence, State, find_problems
from kraftops.placement.safety import MinIsr
from kraftops.reassign.access import ClusterAccess
from kraftops.reassign.disks import disks_of
from kraftops.reassign.min_isr import logged_min_isr, min_isr_of_topics
from kraftops_cli.cluster.moving.access import Work, cluster_command
from kraftops_cli.cluster.options import AccessOptions, min_isr_option, refuse_together
from kraftops_cli.cluster.problems_fields import AFFECTED, PROBLEMS, Problems, cause_text, cure_of
from kraftops_cli.syntax.option_fields import option
from kraftops_terminal.escaping import escaped

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

    def __post_init__(self) -> None:
        """Refuse a cluster beside a source."""
        refuse_together({"--snapshot": self.snapshot, "--bootstrap-server": self.bootstrap_server})
        refuse_together({"--snapshot": self.snapshot, "-C": self.bootstrap_controller})


@cluster_command(
    ProblemsOptions,
    needs_brokers=False,
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
def problems(work: Work, options: ProblemsOptions) -> int:
    """Run the subcommand; return its exit code."""
    if options.snapshot is not None:
        facts = _in_log(options.snapshot, options.min_isr)
    else:
        facts = _in_cluster(work.access, options.min_isr)
    answer = Problems(find_problems(*facts), options.bootstrap_server or "HOST:PORT")
    work.show(PROBLEMS.fields, answer, "".join(_lines(work, answer)))
    return answer.exit_code


def _in_log(source: str, default: int | None) -> tuple[Placement, dict[str, MinIsr], Evidence]:
    image = load(source)
    placement = placement_of(image)
    needed = logged_min_isr(image, image.sorted_topics, default)
    return placement, needed, Evidence(log=facts_of(image, placement))


def _in_cluster(
    access: ClusterAccess, default: int | None
) -> tuple[Placement, dict[str, MinIsr], Evidence]:
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


def _lines(work: Work, answer: Problems) -> Iterator[str]:
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
        yield work.table(AFFECTED, problem.affected[:_SHOWN])
        if len(problem.affected) > _SHOWN:
            yield f"and {len(problem.affected) - _SHOWN} more\n"
        cure = cure_of(problem, answer.brokers)
        yield f"cure: {escaped(': '.join(filter(None, (cure.text, '; '.join(cure.commands)))))}\n"
