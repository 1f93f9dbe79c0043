"""What `kafka-storage recover` and `recover-plan` answer: losses, logs, voters, what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from kraftops.answers.fields import (
    Answer,
    boolean,
    number,
    numbers,
    parts,
    text,
    text_lists,
    texts,
    time,
)
from kraftops.findings.answer import FINDINGS
from kraftops.findings.finding import Finding
from kraftops.recovery.advice import Advice
from kraftops.recovery.file_steps import RemoveFile
from kraftops.recovery.host_script import Role
from kraftops.recovery.missing_state import KINDS
from kraftops.recovery.partitions.answer import LOSS_TOTAL, LOSSES, PARTITION, counted
from kraftops.recovery.partitions.losses import PartitionLoss
from kraftops.recovery.plan import RecoveryPlan
from kraftops.uuids import to_text


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery with its backup; *plan* is None where one was undone."""

    is_changed: bool
    backup: str | None
    plan: RecoveryPlan | None = None
    advice: Sequence[Advice] = ()

    @property
    def losses(self) -> Sequence[PartitionLoss]:
        """What would be cut from brokers' disks after its plan."""
        return self.plan.partitions.losses if self.plan else ()

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings of its plan."""
        return self.plan.findings if self.plan else ()


UNDO = (
    boolean("changed", "whether files were changed", get=attrgetter("is_changed")),
    text("backup", "directory of the old log's copy", may_be_null=True, get=attrgetter("backup")),
)
"""The fields that are also answered where a recovery is undone."""

_LOG = (
    text("name", "its name on the command line", get=attrgetter("log.name")),
    number("nodeId", "its node id", may_be_null=True, get=attrgetter("log.owner.node_id")),
    text(
        "directoryId",
        "directory id beside it",
        may_be_null=True,
        get=lambda log: log.log.owner.directory_id and to_text(log.log.owner.directory_id),
    ),
    boolean("isOwn", "whether it is that of this node", get=attrgetter("is_own")),
    boolean("isChosen", "whether it goes on", get=attrgetter("is_chosen")),
    number("epoch", "epoch of its last batch", get=attrgetter("log.epoch")),
    number("endOffset", "offset after its last record", get=attrgetter("log.end")),
    time("lastTimestamp", "of its newest record", may_be_null=True, get=attrgetter("log.time")),
    text("damage", "what cannot be read", may_be_null=True, get=attrgetter("log.damage")),
    number("equalUpTo", "end of what it shares with the chosen one", get=attrgetter("common_end")),
    number("ahead", "offsets that the chosen one lacks", get=lambda log: len(log.ahead)),
    text_lists("lacking", f"lost names, by kind: {', '.join(KINDS)}", get=attrgetter("missing")),
)
_VOTER = (
    number("nodeId", "node id", get=attrgetter("node_id")),
    text("directoryId", "directory id", get=lambda voter: to_text(voter.directory_id)),
    text("host", "host of its listener", get=attrgetter("host")),
    number("port", "port of its listener", get=attrgetter("port")),
)
_STEP = (
    text(
        "action",
        "what is done",
        values=("write", "remove"),
        get=lambda step: "remove" if isinstance(step, RemoveFile) else "write",
    ),
    text("name", "name of the file", get=attrgetter("name")),
    number("bytes", "to write", may_be_null=True, get=lambda step: getattr(step, "size", None)),
)
_ADVICE = (
    number("nodeId", "node; null: this or any", may_be_null=True, get=attrgetter("node_id")),
    text("text", "what to do", get=attrgetter("text")),
    text("command", "command to paste", may_be_null=True, get=attrgetter("command")),
)
_ELECTION = (
    PARTITION,
    counted("leader", "broker that is elected", "copy.broker", "LEADER"),
    counted("leaderBefore", "leader in the chosen log; -1 is none", "before.leader", "BEFORE", 1),
    counted("leaderEpoch", "its leader epoch, above all on disks", "leader_epoch", "EPOCH"),
    counted("endOffset", "end of its copy", "copy.end", "END"),
)
ELECTIONS = parts(
    "elections",
    "elections that keep the most records",
    _ELECTION,
    get=attrgetter("plan.partitions.elections"),
)
_PLAN = (
    LOSS_TOTAL,
    LOSSES,
    boolean(
        "electsNewest",
        "whether the elections are written",
        get=attrgetter("plan.partitions.is_elected"),
    ),
    ELECTIONS,
    numbers(
        "unseenBrokers",
        "registered brokers whose disks were neither given nor accepted as unseen",
        get=attrgetter("plan.unseen_brokers"),
    ),
    number(
        "nextProducerId",
        "after the recovery",
        get=lambda answer: answer.plan.partitions.producer_ids[1],
    ),
    text("clusterId", "cluster id", get=attrgetter("plan.directory.meta.cluster_id")),
    number("nodeId", "node id", get=attrgetter("plan.config.node_id")),
    parts("logs", "all logs, the chosen one first", _LOG, get=attrgetter("plan.logs")),
    parts(
        "votersBefore",
        "voters of the chosen log; null if the quorum is static",
        _VOTER,
        may_be_null=True,
        get=attrgetter("plan.old_voters"),
    ),
    parts("voters", "voters after the recovery", _VOTER, get=attrgetter("plan.new_voters")),
    numbers("lostVoters", "ids of removed voters", get=lambda answer: [*answer.plan.lost_ids]),
    number(
        "offset",
        "offset of the first new batch; null if nothing is added",
        may_be_null=True,
        get=attrgetter("plan.offset"),
    ),
    number("epoch", "epoch of the new batches, or of the log", get=attrgetter("plan.epoch")),
    parts("steps", "changes of files", _STEP, get=attrgetter("plan.steps")),
    FINDINGS,
    parts("nextSteps", "what to do next, in order", _ADVICE, get=attrgetter("advice")),
)
RECOVER = Answer(
    (*UNDO, *(replace(field, may_be_missing=True) for field in _PLAN)),
    "With --undo only changed and backup.",
)
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
