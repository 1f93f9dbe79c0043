"""What `kraftops changes` and `kraftops incidents` answer."""

from collections.abc import Iterable
from dataclasses import replace

from kraftops.answers.fields import Answer, Field, number, numbers, parts, text, texts
from kraftops.answers.fields import time as time_field
from kraftops.display.columns import Styled, folded
from kraftops.display.sizes import first_names, many
from kraftops.display.times import iso_time, span_text
from kraftops.timeline import rules
from kraftops.timeline.incidents import Incident
from kraftops.timeline.selection import CHANGE, GROUP

NOBODY = "no record of the log says which person asked for a change"
LIKELY = "principals are likely, not certain: their requests fit a change by time and resource"
UNLOGGED = (
    "no request in the authorizer's log fits: Kafka logs allowed ones if kafka.authorizer.logger is"
    " at DEBUG, in local time"
)
CHANGES = Answer(
    (
        replace(
            parts("changes", "the changes in the order of the log", CHANGE), may_be_missing=True
        ),
        replace(
            parts("groups", "with --group-by cause, instead of changes", GROUP),
            may_be_missing=True,
        ),
    ),
    f"Times are UTC; {NOBODY}.",
)
_MOST_TOPICS = 3  # names in a sentence


def incident_text(incident: Incident) -> str:
    sentences = [f"{_subject(incident)} {_words(incident)}{_duration(incident)}"]
    if incident.config and incident.cause != rules.FEATURE_CHANGED:
        sentences.append(f"before it: {incident.config}")
    offline = [topic for topic in incident.topics if topic.offline]
    if offline:
        count = sum(topic.offline for topic in offline)
        longest = span_text(max(topic.longest_offline for topic in offline))
        names = _names(topic.topic for topic in offline)
        sentences.append(f"{many(count, 'partition')} without a leader, up to {longest} ({names})")
    under = [topic for topic in incident.topics if topic.under_min_isr]
    if under:
        count = sum(topic.under_min_isr for topic in under)
        names = _names(topic.topic for topic in under)
        sentences.append(f"{many(count, 'partition')} under min ISR ({names})")
    if incident.unclean:
        unclean = _names(incident.unclean)
        sentences.append(f"unclean elections, records may be lost: {unclean}")
    if incident.took_over:
        leaders = ", ".join(f"{broker} ({n})" for broker, n in incident.took_over.items())
        sentences.append(f"leaders instead: {leaders}")
    return "; ".join(sentences)


def _subject(incident: Incident) -> str:
    ids = ", ".join(map(str, incident.brokers))
    if incident.cause == rules.CONTROLLER_FAILOVER:
        return f"controller {ids}"
    if incident.cause == rules.FEATURE_CHANGED:
        return f"feature {incident.config}"
    if incident.brokers:
        rack = f" of rack {incident.rack}" if incident.cause == rules.RACK else ""
        return f"broker{'s' * (len(incident.brokers) > 1)} {ids}{rack}"
    names = _names(topic.topic for topic in incident.topics)
    if incident.cause == rules.CREATED_AGAIN:
        return f"topic {names}"
    return f"{many(sum(topic.moved for topic in incident.topics), 'partition')} of {names}"


def _words(incident: Incident) -> str:
    words = rules.WORDS[incident.cause]
    if incident.cause == rules.FLAPPING:
        return f"{words}, {incident.falls} times"
    return words


def _duration(incident: Incident) -> str:
    if incident.end is None:  # the words of a broker that is not back say so
        return "" if incident.cause == rules.FENCED else ", and it lasts at the end of the log"
    if incident.end == incident.begin:
        return ""
    text = f", all in sync after {span_text(incident.end - incident.begin)}"
    if incident.falls:
        return text
    return f" within {span_text(incident.end - incident.begin)}"


def _names(names: Iterable[str]) -> str:
    return first_names(list(dict.fromkeys(names)), _MOST_TOPICS)


_TOPIC = (
    text("topic", "the topic"),
    number("offline", "partitions that had no leader"),
    number("longestOfflineMs", "the longest time without a leader, in ms", get="longest_offline"),
    number("underMinIsr", "partitions with fewer replicas in sync than min.insync.replicas"),
    number("longestUnderMinIsrMs", "the longest time of that, in ms", get="longest_under_min_isr"),
    number("moved", "partitions whose lists of replicas changed"),
)  # fmt: skip
_TAKEN_OVER = (
    number("broker", "the new leader", get=lambda pair: pair[0]),
    number("partitions", "number of partitions", get=lambda pair: pair[1]),
)
INCIDENT: tuple[Field, ...] = (
    time_field(
        "begin", "time of the first record", column="BEGIN",
        cell=lambda incident: iso_time(incident.begin),
    ),
    time_field("back?", "when the last of its brokers was back; null while one is away"),
    time_field(
        "end?", "when all of its partitions were in sync, too; null while it goes on",
        column=("END", 1),
        cell=lambda incident: iso_time(incident.end) or Styled("still", "bad"),
    ),
    text("cause", "what happened", values=[rule.cause for rule in rules.RULES], column="CAUSE"),
    text(
        "text", "what happened and what it did, in words", column=folded("WHAT"),
        get=incident_text,
    ),
    numbers("brokers", "its brokers, or the new leader of the quorum"),
    number("falls", "how often one of its brokers went away"),
    text("rack?", "the rack of all its brokers"),
    parts("topics", "what it did to topics", _TOPIC),
    number("elections", "new leaders of partitions"),
    texts("uncleanElections", "partitions whose new leader may lack records", get="unclean"),
    number("withElr", "partitions that got eligible leader replicas"),
    parts(
        "tookOver", "brokers that led instead", _TAKEN_OVER,
        get=lambda incident: list(incident.took_over.items()),
    ),
    text("config?", "the change of a feature, or of a configuration that made it worse"),
    number("firstOffset", "offset of the first record"),
    number("lastOffset", "offset of the last record"),
)  # fmt: skip
INCIDENTS = Answer(
    (
        parts(
            "incidents",
            "the incidents by their start",
            INCIDENT,
            get=lambda incidents: incidents,
        ),
    )
)
