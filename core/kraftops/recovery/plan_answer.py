"""What `kafka-storage recover-plan` answers: voters, hosts with their scripts, findings."""

from __future__ import annotations

from operator import attrgetter

from kraftops.answers.fields import Answer, number, numbers, parts, text, texts
from kraftops.findings.answer import FINDINGS
from kraftops.recovery.host_script import Role
from kraftops.recovery.partitions.answer import LOSS_TOTAL, LOSSES

_HOST = (
    number("nodeId", "node id", get=attrgetter("node_id")),
    text("role", "what becomes of it", values=tuple(Role), get=attrgetter("role.value")),
    text("script", "name of its script", get=attrgetter("script_name")),
    text("from", "its copy on the command line", get=attrgetter("copy.name")),
    text(
        "config",
        "path of its server.properties on its host",
        may_be_null=True,
        get=attrgetter("copy.config_path"),
    ),
)
RECOVER_PLAN = Answer(
    (
        LOSS_TOTAL,
        LOSSES,
        text("clusterId", "cluster id", get=attrgetter("cluster_id")),
        text(
            "chosen",
            "log that goes on, by its name on the command line",
            get=attrgetter("log_name"),
        ),
        texts("voters", "voters after it", get=lambda plan: [str(voter) for voter in plan.voters]),
        number("offset", "end of the log that goes on", get=attrgetter("recovery.chosen.end")),
        parts("hosts", "nodes with a script, by id", _HOST, get=attrgetter("hosts")),
        numbers(
            "startOrder",
            "brokers whose copies were read, in the order of their start",
            get=attrgetter("start_order"),
        ),
        numbers("withoutCopy", "nodes without a script", get=lambda plan: [*plan.without_copy]),
        FINDINGS,
    )
)
