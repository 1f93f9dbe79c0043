"""Examples and chapters of the manual of `kafka-dump-log`."""

from __future__ import annotations

from kraftops_cli.syntax.environment import SPARK, environment
from kraftops_cli.syntax.exit_status import exit_status

EXAMPLES = (
    (
        "the contents of a log, in numbers",
        "kafka-dump-log --cluster-metadata-decoder --summary 0.log",
    ),
    (
        "the records of a metadata log",
        "kafka-dump-log --cluster-metadata-decoder --files 00000000000000000000.log",
    ),
    ("only the batches, of two files", "kafka-dump-log --files 0.log,00000000000000004711.log"),
    ("committed offsets", "kafka-dump-log --offsets-decoder --files 00000000000000000000.log"),
    (
        "does an index fit its log?",
        "kafka-dump-log --verify-index-only --files 0.index,0.timeindex",
    ),
    (
        "what became of a topic, as JSON",
        "kafka-dump-log --topic orders --format json /var/kafka/__cluster_metadata-0",
    ),
    (
        "changes that left partitions with one replica in sync",
        'kafka-dump-log --where "len(value.isr) = 1" /var/kafka/__cluster_metadata-0',
    ),
    ("is anything damaged, and what would a start mend?", "kafka-dump-log --check /var/kafka"),
    (
        "new records of a running cluster's metadata log",
        "kafka-dump-log --controllers localhost:9093 --follow --format json",
    ),
)
SECTIONS = (
    (
        "Differences from Kafka",
        """\
Nothing is written or created next to the input. Options are checked before any output. Help is on
standard output, with exit status 0.

There are no stack traces. Where Kafka's tool ends with an exception, this one prints one line on
standard error, FILE: position P: REASON, and goes on: after a bad record with the next record,
after lost framing with the next batch, after an impossible batch length with the next file. A
record that cannot be decoded is shown as far as Kafka shows it, followed by <undecodable: REASON>.

A number that is given twice is refused after the line Dumping FILE, as by Kafka's tool. Records of
more than 8 MiB are not decoded, and records with more than 65,536 headers are not read. If a batch
is larger than a quarter of --max-memory, compressed or not, its line is printed without its
records. Only regular files are read.

Zero padding after the last batch is a note, not an error. Offsets that do not follow each other are
reported where they occur in a file, not before its first record. Files renamed to .deleted, .swap,
.cleaned or .part are read by their original kind. A file without an offset in its name is read too.
DefaultDecoder prints hexadecimal digits instead of the identity of a Java array. Doubles have the
fewest digits that identify them, as from Java 19 on. Decoder classes other than Kafka's own are
refused.""",
    ),
    (
        "Input",
        """\
An argument, of --files or not, is one of these:

segment: a log segment, also compressed (.gz, .zst, .xz).

snapshot, index: a snapshot, an index, a transaction index or a producer snapshot.

partition: a directory of a partition; its segments are read in the order of their offsets. In
__cluster_metadata that is the newest snapshot and the segments after it; with --from-start, all
segments and no snapshot.

directory: a log directory, with all its partitions.

tier: a directory of a tier, as LocalTieredStorage or Aiven's plugin write it, unless the plugin
compresses or encrypts the segments. With --offset, only the segments that hold these offsets are
read.

archive: a .tar (also .gz, .bz2, .xz or .zst) or .zip of directories, with all partitions in it.

-: standard input.

The name of the topic chooses the decoder, unless --raw is given. A name with *, ? or [ is a
pattern, unless there is a file of this name. With --salvage, standard input and archives are first
copied to a temporary file without a name.

Paths in an archive are shown as ARCHIVE!/PATH. It is read in place; what a compressed one holds of
logs, and of the files beside them, is inflated to a file without a name in TMPDIR. An archive is
refused if it inflates out of proportion, or to more than there is room for. Links, devices, paths
that lead outside, and archives in an archive are named on standard error and left out; the exit
status is then 1. If an archive is damaged or cut short, what can be read is read, the rest is
named, and the exit status is 2. Such archives are not read by --files in Kafka's text, with
--spark, or in object stores.

With --format json, each of the small files of a log directory (meta.properties, quorum-state,
partition.metadata, leader-epoch-checkpoint and the other checkpoints) is printed as one object.""",
    ),
    (
        "A running cluster",
        """\
With --controllers, the metadata log is read from the active controller: its newest snapshot, then
the log up to the high watermark. Addresses are tried until one names the active controller; after
an election, reading goes on from the new one. Nothing changes in the cluster, and the reader does
not appear among the observers. It needs CLUSTER_ACTION on the cluster.

--command-config names client properties, as all of Kafka's clients take them. --config names the
configuration of a server: its addresses are those of controller.quorum.bootstrap.servers or
controller.quorum.voters, its login that of the first controller listener and of
sasl.mechanism.controller.protocol. --controllers and --command-config override it. See
kafka-cluster(1).

The file of a row is the address of the controller, and its position is null (-1 in text). Lines
about files have the name that the file has on the controller. With --follow, reading goes on until
Ctrl-C. If the controller deletes the next part of the log, or the snapshot that is being read, a
note on standard error says so, and reading goes on with the snapshot that replaces it.""",
    ),
    (
        "Choosing",
        """\
Different options are combined with AND. A repeated option is combined with OR, except --where,
which is combined with AND.

--topic: in the logs of metadata and of coordinators, the records about a topic; in the topic's own
logs, all records.

--group: records whose key names the group: committed offsets, the group, its members, and the
states of share groups.

--type, --topic, --key, --group and --where print records, as --deep-iteration does. The other
filters choose batches where only batches are printed.""",
    ),
    (
        "Conditions",
        """\
A CONDITION of --where compares columns of the row (see Rows), and fields of its key, value and
headers, as value.leader, value.isr.0, key.group or headers.trace-id. A part of a path is quoted if
it has characters other than letters, digits, _ and -, as headers.'a b'. If several headers have the
same key, the last one counts.

The operators are = != < <= > >=, ~ and !~ (a regular expression), in (1, 2), 1 in value.isr, is
null, is not null, len(value.isr), and, or, not, and parentheses. Text is quoted with ' or "; a
quote in the text is written twice. A column or field that is true or false is a condition by
itself, as control. timestamp is compared with milliseconds since the epoch, or with a time as
--since takes it.

Nulls behave as in SQL: a comparison with null, or with a field that the row does not have, is
neither true nor false, and neither is its negation. Only rows for which the condition is true are
kept. Names and types are checked before anything is read.

A regular expression may match anywhere in the text, in time proportional to its length. It has
literals, . [a-z] [^a-z] \\d \\w \\s (of ASCII) ( ) (?: ) | * + ? {2,5}, ^ and $ for the ends of the
text, and (?i) at its beginning to ignore case. It has no back-references and no lookaround.

Conditions on offset, timestamp, type, sizes, headers, fields of a batch header and fields of
metadata records are decided before a record is decoded.""",
    ),
    (
        "Rows",
        """\
JSON, CSV and Parquet have the same columns. A column without a value is null (in CSV: empty).

file, position, baseOffset: where the batch is.

topic, partition: of the log, by the name of its directory.

offset, timestamp, timestampType: of the record; the timestamp is in milliseconds.

crcValid: false if the CRC of the batch does not match; then nothing in the row can be trusted.

leaderEpoch, producerId, producerEpoch, sequence, transactional, control, codec: of the batch.

keySize, valueSize, headers: of the record.

kind: the decoder, control, or damage.

type, version: of the decoded record.

key, value: JSON. A user record has text, or base64 where keyEncoding or valueEncoding says so.

topicId, partitionId, brokerId: what a metadata record is about; topic and partition are those of
its log.

error: why the record is damaged or unknown.

Credentials and secret configuration values are <redacted>, except in Kafka's text: values of type
PASSWORD in any release of Kafka, and values of keys that no release knows. With --show-secrets, the
--output is readable by its owner only.""",
    ),
    (
        "Summary",
        """\
--summary counts the records that the same command would print, in whole batches with a valid CRC.
For several logs it prints a table, with a line for each log and a total. Bytes are those of batches
with such records, times are UTC, and damage is that of the whole log, whatever is chosen. An
unfinished batch at the end of a log is not damage: a starting server cuts it off. Open transactions
come next, the oldest first, with their transactional ids if __transaction_state is among the logs.

With --log, or for a single log, it shows everything: types, largest records and batches, the most
frequent keys, the producers with the most bytes, epochs and transactions, and for
__consumer_offsets the groups. A group's lag is counted to the ends of those logs that are given
too, of several copies the longest, which the table names: the leader may have more.

With --follow on a terminal, the table is updated once a second as logs grow, with records and bytes
per second: s sorts by another column, arrows scroll, p shows only logs with problems, and q prints
the table and quits. In a pipe, each change prints a block. Logs created after the start are not
included.

Counts of keys and producers are never too high. If there are very many different ones, a count can
be too low, at most by the error that is printed: less than 1/256 of the total. A key that is not
listed has at most the last listed count plus this error. Of keys longer than 256 bytes, the
beginning is shown. With a limit, or a filter on anything but offsets and times, open transactions
are unknown.

--format json prints one object, with logs in the order of --sort and without a total. With --follow
it prints an object on a line of its own each time that a log has grown.""",
    ),
    (
        "Checking directories",
        """\
For the directory of a partition, or a log directory with all its partitions, --check prints no
records. It predicts what Kafka's loader makes of each partition, by the rules of Kafka 4.3:
whether it would load, where its log would begin and end, and what a start would remove. Then it
compares the log with all other files about it: indexes, transaction indexes, producer snapshots,
leader epochs, the topic id, and the checkpoints of the log directory.

A line for each finding has its severity, the file, the reason, the cure and a code:

loss: records are lost, or the next start loses them.

stops: a start refuses the partition. The server does not start, or goes on without the log
directory.

risk: a server does not notice it, and it hurts later.

note: a start mends it, and nothing is lost.

A finding is "possible" if some evidence was set aside, as a checkpoint that is older than the
partition. The table at the end has for each partition its state, by its worst finding (clean,
mended by a start, damaged, start refused, data lost), its offsets after a start, and the offsets
and bytes that are lost.

The exit status is 0 if there are only notes, 2 if there are other findings, and 1 if a partition
cannot be read.

Offsets that no batch has are lost, unless compaction removed them. Signs of compaction are the
cleaner's checkpoint, the cleanup.policy in a metadata log among the directories, and batches with
fewer records than offsets. Without these signs, a gap is a loss in two cases: a record before it
has no key, or repeats a key, which no cleaner leaves; or it lies between two segments, where a
broker that copies a compacted log leaves no gap.

Segments in a tier are compared with the remote log metadata: with the partitions of
__remote_log_metadata among the directories, and those of --remote-log-metadata. That finds segments
without metadata, metadata without segments, and, where both directories are given, offsets that are
neither in the tier nor in the local log. Offsets that only a missing segment had are lost. Without
the metadata, segments in the tier are compared with each other and with the local logs. If a
segment has several copies, --offset reads the one that readers are sent to.

A broker may be running: a finding about a partition that changes is only reported if a second look
confirms it. For files that were copied without their log directory, only an unfinished end counts
as mended. Large checks run in as many processes as --jobs says, by default one a core; with
--spark, each partition is a task.""",
    ),
    (
        "Checking files",
        """\
For files, --check prints a line for each finding, and a table with a row for each segment (with the
indexes named beside it) and each snapshot. To check an index, it reads the log. It does not know
the rest of the directory: an unfinished end counts as mended, and missing offsets are not reported.
In object stores, each file is checked by itself.

With --files, filters, --limit, --output, --follow, --salvage, --max-bytes or options of Kafka's
text, such as --deep-iteration, and for archived segments and standard input, --check does something
else: the output is the same as without it, and what is dumped is checked, with a line for each
finding on standard error. Findings are a wrong CRC, an unknown magic, bytes that are not a whole
batch, a record that cannot be decoded, a corrupt producer snapshot, and an index that does not fit
its log, is out of order or ends within an entry.

Zero padding is not damage. Kafka's tool reports some mismatches in the indexes of healthy brokers,
which are not damage either: zeros where there is no entry yet, one entry for batches that were
appended at once, and the time of records that compaction removed. Records are checked as they are
decoded: without a decoder only their framing, with filters only those selected. The exit status is
0 for sound files, 1 if nothing could be read, and 2 with findings.""",
    ),
    exit_status(
        {
            0: "done. Zero padding does not change it, nor does damage that Kafka's tool prints in"
            " its output: a wrong CRC, bytes at the end that are not a batch, an unknown type.",
            1: "bad arguments, an unreadable file, or, in Kafka's text, damage that ends Kafka's"
            " tool with an exception. All readable records are printed.",
            2: "--check has findings. With --format, --skip-invalid or --summary: a wrong CRC, or"
            " bytes that are not a batch.",
            3: "the output exists, and --overwrite is not given.",
            4: "a path does not exist, or no log knows the topic or group. Not for --files of"
            " kafka-dump-log in text; with --check, a missing topic or group is only a note.",
        }
    ),
    environment(SPARK),
)
