"""What `kafka-storage compare`, `recover` and `recover-plan` answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from kraftops.answers.fields import (
    Answer,
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
    within,
)
from kraftops.display.columns import folded
from kraftops.findings.answer import FINDINGS
from kraftops.recovery.file_steps import RemoveFile
from kraftops.recovery.host_script import Role
from kraftops.recovery.missing_state import KINDS
from kraftops.recovery.plan import RecoveryPlan
from kraftops.recovery.procedure import WorkStep
from kraftops.uuids import to_text

PARTITION = text("name", "topic and partition", column=folded("PARTITION"), get="copy.name")
_COPY_NAME = (
    text("topic", "topic", get="copy.topic"),
    number("partition", "partition", get="copy.number"),
    PARTITION,
    number("broker", "broker of the copy", column="BROKER", get="copy.broker"),
    text("place", "directory or archive of the copy", get="copy.place"),
)
_NEWEST_RECORD = time(
    "lastTimestamp?",
    "of the newest record of the copy",
    column=("NEWEST RECORD", 3),
    get="copy.time",
)
LOSS = (
    *_COPY_NAME,
    number("firstOffset", "first offset", column="FROM", get="offsets.start"),
    number("endOffset", "offset after the last", column="END", get="offsets.stop"),
    number(
        "records",
        "number of offsets",
        numeral="amount",
        column="RECORDS",
        get=lambda loss: len(loss.offsets),
        # Of an archive without ends of logs none may be seen, and many may be lost.
        cell=lambda loss: len(loss.offsets) or (0 if loss.copy.is_end_exact else None),
    ),
    number(
        "acknowledged?",
        "those below a high watermark that a broker noted, others are possibly acknowledged; null: "
        "no broker noted one",
        numeral="amount",
        column="ACKNOWLEDGED",
    ),
    _NEWEST_RECORD,
    number("leader", "broker that has them cut by leading", column=("LEADER", 1)),
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
    text("meaning?", "what it means, of an internal topic", column=folded("MEANING", 2)),
)
LOSSES = parts("losses", "records that would be cut", LOSS, get="losses")
LOSS_TOTAL = part(
    "lossTotal",
    "their numbers, an offset that several brokers have counted once",
    (
        number("acknowledged?", "acknowledged records; null: unknown"),
        number("possible?", "possibly acknowledged records; null: unknown"),
        boolean("isAtLeast", "whether there may be more: the end of a copy is unknown"),
        texts("partitions", "names of their partitions"),
        text("text", "the same in a sentence", get=str),
    ),
    get="loss_total",
)
COPY = (
    *_COPY_NAME,
    number("epoch", "latest leader epoch; -1 without one", column="EPOCH", get="copy.epoch"),
    number("startOffset", "first offset", get="copy.start"),
    number("endOffset", "offset after the last record", column="END", get="copy.end"),
    boolean(
        "isEndExact",
        "whether the end is known; else it is the lowest possible",
        get="copy.is_end_exact",
    ),
    number(
        "highWatermark?",
        "high watermark that the broker noted last",
        column=("HIGH WATERMARK", 2),
        get="copy.high_watermark",
    ),
    _NEWEST_RECORD,
    boolean("isNewest", "whether none is newer"),
    number("newestOn", "broker of the newest copy", get="newest.broker"),
    number("equalUpTo", "offset where it and the newest copy diverge", column="EQUAL UP TO"),
    number("lacking", "offsets of the newest copy that it lacks", column=("LACKS", 1)),
    number("own", "offsets that the newest copy lacks: cut once that leads", column=("OWN", 1)),
    text(
        "content",
        "whether the batches before that offset have the checksums of the newest copy's: newest, "
        "same (by the first and the last), differs at OFFSET, disputed (as many copies differ from "
        "it), or not compared",
        column="CONTENT",
    ),
)
BROKER = (
    number("broker", "broker", column="BROKER"),
    number("copies", "its copies of partitions", column="COPIES"),
    number("newestAlone", "partitions whose newest copy it alone has", column="NEWEST ALONE"),
    number(
        "lostIfGone?",
        "acknowledged records that are lost if it is gone for good; null: no broker noted how many",
        column="ACKNOWLEDGED LOST IF GONE",
        get="gone.acknowledged",
    ),
    number(
        "possiblyLostIfGone",
        "possibly acknowledged ones",
        column=("POSSIBLY", 1),
        get="gone.possible",
    ),
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
        text("metadataLog?", "newest metadata log that was given"),
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
    text("backup?", "directory of the old log's copy"),
)
"""The fields that are also answered where a recovery is undone."""

LOG = (
    text("name", "its name on the command line", column=folded("LOG"), get="log.name"),
    number("nodeId?", "its node id", column="NODE", get="log.owner.node_id"),
    text(
        "directoryId?",
        "directory id beside it",
        get=lambda log: log.log.owner.directory_id and to_text(log.log.owner.directory_id),
    ),
    boolean("isOwn", "whether it is that of this node"),
    boolean("isChosen", "whether it goes on"),
    number("epoch", "epoch of its last batch", column="EPOCH", get="log.epoch"),
    number("endOffset", "offset after its last record", column="END", get="log.end"),
    time("lastTimestamp?", "of its newest record", column=("NEWEST RECORD", 1), get="log.time"),
    text("damage?", "what cannot be read", get="log.damage"),
    number(
        "equalUpTo",
        "end of what it shares with the chosen one",
        column="EQUAL UP TO",
        get="common_end",
    ),
    number(
        "ahead",
        "offsets that the chosen one lacks",
        column="GIVEN UP",
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
    number("bytes?", "to write", get=lambda step: getattr(step, "size", None)),
)
_WORK_STEP = (
    number("nodeId?", "node; null: this or any"),
    text("text", "what to do"),
    text("command?", "command to paste"),
    text("check?", "what is true once it has worked"),
)
ELECTION = (
    PARTITION,
    number("leader", "broker that is elected", column="LEADER", get="copy.broker"),
    number(
        "leaderBefore",
        "leader in the chosen log; -1 is none",
        column=("BEFORE", 1),
        get="before.leader",
    ),
    number("leaderEpoch", "its leader epoch, above all on disks", column="EPOCH"),
    number("endOffset", "end of its copy", column="END", get="copy.end"),
)
_PLAN = (
    LOSS_TOTAL,
    LOSSES,
    *within("partitions.comparison", COPIES),
    boolean("electsNewest", "whether the elections are written", get="partitions.is_elected"),
    parts(
        "elections", "elections that keep the most records", ELECTION, get="partitions.elections"
    ),
    numbers(
        "unseenBrokers",
        "registered brokers whose disks were neither all given nor accepted as unseen",
    ),
    number(
        "nextProducerId", "after the recovery", get=lambda plan: plan.partitions.producer_ids[1]
    ),
    text("clusterId", "cluster id"),
    number("nodeId", "node id", get="config.node_id"),
    parts("logs", "all logs, the chosen one first", LOG),
    parts(
        "votersBefore?",
        "voters of the chosen log; null if the quorum is static",
        _VOTER,
        get="old_voters",
    ),
    parts("voters", "voters after the recovery", _VOTER, get="new_voters"),
    numbers("lostVoters", "ids of removed voters", get="lost_ids"),
    number("offset?", "offset of the first new batch; null if nothing is added"),
    number("epoch", "epoch of the new batches, or of the log"),
    parts("steps", "changes of files", _FILE_STEP),
    FINDINGS,
)


RECOVER = Answer(
    (
        *UNDO,
        *in_some_forms(
            *within("plan", _PLAN),
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
    text("config?", "path of its server.properties on its host", get="copy.config_path"),
)
RECOVER_PLAN = Answer(
    (
        *within("recovery", [field for field in _PLAN if field.name not in ("nodeId", "steps")]),
        parts("hosts", "nodes with a script, by id", _HOST),
        numbers("withoutCopy", "nodes without a script"),
    )
)
