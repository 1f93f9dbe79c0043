"""What `kafka-storage compare`, `recover` and `recover-plan` answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from kraftops.answers.fields import (
    Answer,
    Field,
    Numeral,
    boolean,
    in_some_forms,
    number,
    numbers,
    part,
    parts,
    text,
    text_lists,
    texts,
    time,
)
from kraftops.display.columns import Column, folded
from kraftops.display.columns import number as number_column
from kraftops.findings.answer import FINDINGS
from kraftops.recovery.file_steps import RemoveFile
from kraftops.recovery.host_script import Role
from kraftops.recovery.missing_state import KINDS
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.procedure import WorkStep
from kraftops.uuids import to_text


class Counted(TypedDict, total=False):
    """What a field of a number can have beside a column."""

    numeral: Numeral
    may_be_null: bool


def counted(
    name: str, meaning: str, path: str, title: str, priority: int = 0, **more: Unpack[Counted]
) -> Field:
    """Return the field of a number at a path of attributes, with a column of this title."""
    return number(name, meaning, get=path, column=number_column(title, priority), **more)


PARTITION = text("name", "topic and partition", column=folded("PARTITION"), get="copy.name")
_COPY_NAME = (
    text("topic", "topic", get="copy.topic"),
    number("partition", "partition", get="copy.number"),
    PARTITION,
    counted("broker", "broker of the copy", "copy.broker", "BROKER"),
    text("place", "directory or archive of the copy", get="copy.place"),
)
_NEWEST_RECORD = time(
    "lastTimestamp",
    "of the newest record of the copy",
    may_be_null=True,
    column=Column("NEWEST RECORD", 3),
    get="copy.time",
)
LOSS = (
    *_COPY_NAME,
    counted("firstOffset", "first offset", "offsets.start", "FROM"),
    counted("endOffset", "offset after the last", "offsets.stop", "END"),
    number(
        "records",
        "number of offsets",
        numeral="amount",
        column=number_column("RECORDS"),
        get=lambda loss: len(loss.offsets),
        # Of an archive without ends of logs none may be seen, and many may be lost.
        cell=lambda loss: len(loss.offsets) or (0 if loss.copy.is_end_exact else None),
    ),
    counted(
        "acknowledged",
        "those below a high watermark that a broker noted, others are possibly acknowledged; null: "
        "no broker noted one",
        "acknowledged",
        "ACKNOWLEDGED",
        numeral="amount",
        may_be_null=True,
    ),
    _NEWEST_RECORD,
    counted("leader", "broker that has them cut by leading", "leader", "LEADER", 1),
    numbers("leaders", "all brokers that may lead"),
    numbers(
        "alsoOn",
        "other brokers that have all of them",
        column=folded("ALSO ON", 1),
        cell=lambda loss: ",".join(map(str, loss.also_on)) or None,
    ),
    boolean("isCertain", "whether no other broker can lead, and the ends of both copies were read"),
    boolean(
        "isAtLeast",
        "whether there may be more: the end of the copy is unknown",
        get=lambda loss: not loss.copy.is_end_exact,
    ),
    text(
        "meaning",
        "what it means, of an internal topic",
        may_be_null=True,
        column=folded("MEANING", 2),
    ),
)
LOSSES = parts("losses", "records that would be cut", LOSS, get="losses")
LOSS_TOTAL = part(
    "lossTotal",
    "their numbers, an offset that several brokers have counted once",
    (
        number("acknowledged", "acknowledged records; null: unknown", may_be_null=True),
        number("possible", "possibly acknowledged records; null: unknown", may_be_null=True),
        boolean("isAtLeast", "whether there may be more: the end of a copy is unknown"),
        texts("partitions", "names of their partitions"),
        text("text", "the same in a sentence", get=str),
    ),
    get="loss_total",
)
COPY = (
    *_COPY_NAME,
    counted("epoch", "latest leader epoch; -1 without one", "copy.epoch", "EPOCH"),
    number("startOffset", "first offset", get="copy.start"),
    counted("endOffset", "offset after the last record", "copy.end", "END"),
    boolean(
        "isEndExact",
        "whether the end is known; else it is the lowest possible",
        get="copy.is_end_exact",
    ),
    counted(
        "highWatermark",
        "high watermark that the broker noted last",
        "copy.high_watermark",
        "HIGH WATERMARK",
        2,
        may_be_null=True,
    ),
    _NEWEST_RECORD,
    boolean("isNewest", "whether none is newer"),
    number("newestOn", "broker of the newest copy", get="newest.broker"),
    counted("equalUpTo", "offset where it and the newest copy part", "equal_up_to", "EQUAL UP TO"),
    counted("lacking", "offsets of the newest copy that it lacks", "lacking", "LACKS", 1),
    counted("own", "offsets that the newest copy lacks: cut once that leads", "own", "OWN", 1),
    text(
        "content",
        "whether the batches before that offset have the checksums of the newest copy's: newest, "
        "same (by the first and the last), differs at OFFSET, disputed (as many copies differ from "
        "it), or not compared",
        column=Column("CONTENT"),
    ),
)
BROKER = (
    counted("broker", "broker", "broker", "BROKER"),
    counted("copies", "its copies of partitions", "copies", "COPIES"),
    counted(
        "newestAlone",
        "partitions whose newest copy it alone has",
        "newest_alone",
        "NEWEST ALONE",
    ),
    counted(
        "lostIfGone",
        "acknowledged records that are lost if it is gone for good; null: no broker noted how many",
        "gone.acknowledged",
        "ACKNOWLEDGED LOST IF GONE",
        may_be_null=True,
    ),
    counted("possiblyLostIfGone", "possibly acknowledged ones", "gone.possible", "POSSIBLY", 1),
    texts("partitionsLostIfGone", "names of their partitions", get="gone.partitions"),
)
COPIES = (
    parts("brokers", "brokers, in the order in which they should start", BROKER),
    parts(
        "copies", "copies of the partitions whose copies are not all equal", COPY, get="differing"
    ),
    number("equalCopies", "number of the other copies", get="equal_count"),
)
COMPARE = Answer(
    (
        *COPIES,
        boolean("hasStartOrder", "whether an order of starts keeps all records", get="has_order"),
        texts(
            "replacements",
            "what to copy before the starts if none does",
            get=lambda table: [cure.text for cure in table.replacements],
        ),
        texts(
            "replacementCommands",
            "commands that copy it, of copies on this machine",
            get=lambda table: [command for cure in table.replacements for command in cure.commands],
        ),
        text("metadataLog", "newest metadata log that was given", may_be_null=True),
        LOSSES,
        LOSS_TOTAL,
        FINDINGS,
    ),
    "Losses are those of a start with that metadata log. The order of brokers is right with"
    " hasStartOrder; without, the copies in replacements must be made before.",
)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery with its backup; *plan* is None where one was undone."""

    is_changed: bool
    backup: str | None
    plan: RecoveryPlan | None = None
    next_steps: Sequence[WorkStep] = ()


UNDO = (
    boolean("changed", "whether files were changed", get="is_changed"),
    text("backup", "directory of the old log's copy", may_be_null=True),
)
"""The fields that are also answered where a recovery is undone."""

LOG = (
    text("name", "its name on the command line", column=folded("LOG"), get="log.name"),
    counted("nodeId", "its node id", "log.owner.node_id", "NODE", may_be_null=True),
    text(
        "directoryId",
        "directory id beside it",
        may_be_null=True,
        get=lambda log: log.log.owner.directory_id and to_text(log.log.owner.directory_id),
    ),
    boolean("isOwn", "whether it is that of this node"),
    boolean("isChosen", "whether it goes on"),
    counted("epoch", "epoch of its last batch", "log.epoch", "EPOCH"),
    counted("endOffset", "offset after its last record", "log.end", "END"),
    time(
        "lastTimestamp",
        "of its newest record",
        may_be_null=True,
        column=Column("NEWEST RECORD", 1),
        get="log.time",
    ),
    text("damage", "what cannot be read", may_be_null=True, get="log.damage"),
    counted("equalUpTo", "end of what it shares with the chosen one", "common_end", "EQUAL UP TO"),
    number(
        "ahead",
        "offsets that the chosen one lacks",
        column=number_column("GIVEN UP"),
        get=lambda log: len(log.ahead),
    ),
    text_lists("lacking", f"lost names, by kind: {', '.join(KINDS)}", get="missing"),
)
_VOTER = (
    number("nodeId", "node id"),
    text("directoryId", "directory id", get=lambda voter: to_text(voter.directory_id)),
    text("host", "host of its listener"),
    number("port", "port of its listener"),
)
_FILE_STEP = (
    text(
        "action",
        "what is done",
        values=("write", "remove"),
        get=lambda step: "remove" if isinstance(step, RemoveFile) else "write",
    ),
    text("name", "name of the file"),
    number("bytes", "to write", may_be_null=True, get=lambda step: getattr(step, "size", None)),
)
_WORK_STEP = (
    number("nodeId", "node; null: this or any", may_be_null=True),
    text("text", "what to do"),
    text("command", "command to paste", may_be_null=True),
    text("check", "what is so once it has worked", may_be_null=True),
)
ELECTION = (
    PARTITION,
    counted("leader", "broker that is elected", "copy.broker", "LEADER"),
    counted("leaderBefore", "leader in the chosen log; -1 is none", "before.leader", "BEFORE", 1),
    counted("leaderEpoch", "its leader epoch, above all on disks", "leader_epoch", "EPOCH"),
    counted("endOffset", "end of its copy", "copy.end", "END"),
)
_PLAN = (
    LOSS_TOTAL,
    LOSSES,
    *(replace(field, get=f"partitions.comparison.{field.get or field.name}") for field in COPIES),
    boolean("electsNewest", "whether the elections are written", get="partitions.is_elected"),
    parts(
        "elections", "elections that keep the most records", ELECTION, get="partitions.elections"
    ),
    numbers(
        "unseenBrokers", "registered brokers whose disks were neither given nor accepted as unseen"
    ),
    number(
        "nextProducerId", "after the recovery", get=lambda plan: plan.partitions.producer_ids[1]
    ),
    text("clusterId", "cluster id"),
    number("nodeId", "node id", get="config.node_id"),
    parts("logs", "all logs, the chosen one first", LOG),
    parts(
        "votersBefore",
        "voters of the chosen log; null if the quorum is static",
        _VOTER,
        may_be_null=True,
        get="old_voters",
    ),
    parts("voters", "voters after the recovery", _VOTER, get="new_voters"),
    numbers("lostVoters", "ids of removed voters", get="lost_ids"),
    number("offset", "offset of the first new batch; null if nothing is added", may_be_null=True),
    number("epoch", "epoch of the new batches, or of the log"),
    parts("steps", "changes of files", _FILE_STEP),
    FINDINGS,
)


def _of(attribute: str, field: Field) -> Field:
    return replace(field, get=lambda answered: field.value_of(getattr(answered, attribute)))


RECOVER = Answer(
    (
        *UNDO,
        *in_some_forms(
            *(_of("plan", field) for field in _PLAN),
            parts("nextSteps", "what to do next, in order", _WORK_STEP),
        ),
    ),
    "With --undo only changed and backup.",
)
_HOST = (
    number("nodeId", "node id"),
    text("role", "what becomes of it", values=tuple(Role), get="role.value"),
    text("script", "name of its script", get="script_name"),
    text("from", "its copy on the command line", get="copy.name"),
    text(
        "config",
        "path of its server.properties on its host",
        may_be_null=True,
        get="copy.config_path",
    ),
)
RECOVER_PLAN = Answer(
    (
        *(_of("recovery", field) for field in _PLAN if field.name not in ("nodeId", "steps")),
        parts("hosts", "nodes with a script, by id", _HOST),
        numbers("withoutCopy", "nodes without a script"),
    )
)
