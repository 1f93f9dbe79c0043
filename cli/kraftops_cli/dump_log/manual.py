"""Examples and chapters of the manual of `kafka-dump-log`."""

from __future__ import annotations

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
    ("does an index fit its log", "kafka-dump-log --verify-index-only --files 0.index,0.timeindex"),
    (
        "what became of a topic, as JSON",
        "kafka-dump-log --topic orders --format json /var/kafka/__cluster_metadata-0",
    ),
    (
        "changes that left partitions with one replica in sync",
        'kafka-dump-log --where "len(value.isr) = 1" /var/kafka/__cluster_metadata-0',
    ),
    ("is anything damaged, and what would a start mend", "kafka-dump-log --check /var/kafka"),
    (
        "new records of a running cluster's metadata log",
        "kafka-dump-log --controllers localhost:9093 --follow --format json",
    ),
)
SECTIONS = (
    (
        "Differences from Kafka",
        """\
Nothing is written or created next to the input, and the options are checked before any output.
Help is on standard output, with exit status 0. There are no stack traces: damage that ends Kafka's
tool with an exception is one line on standard error, FILE: position P: REASON, and the output goes
on. A record that cannot be decoded is shown as far as Kafka shows it, then <undecodable: REASON>.
After lost framing in a batch the next batch follows; after an impossible batch length, the next
file.

A number that is given twice is refused after the line Dumping FILE, as by Kafka's tool. Records of
more than 8 MiB are not decoded, and records with more than 65536 headers are not read. Only regular
files are read.

Zero padding after the last batch is a note, not an error. Offsets that do not follow each other
are reported within a file, not before its first record. Files renamed to .deleted, .swap, .cleaned
or .part are read by their original kind. A file without an offset in its name is read too.
DefaultDecoder prints hexadecimal digits, not the identity of a Java array. Doubles have the fewest
digits that identify them, as from Java 19 on. Of a batch that is larger than a quarter of
--max-memory, also inflated, the line is printed but no records. Decoder classes other than Kafka's
own are refused.""",
    ),
    (
        "Input",
        """\
Files of --files and all other arguments: logs, snapshots, indexes, transaction indexes and producer
snapshots; compressed segments (.gz, .zst, .xz); - is standard input. The directory of a partition
stands for its segments in the order of their offsets; the directory of __cluster_metadata for its
newest snapshot and the segments after it (--from-start: for all segments); a log directory for all
its partitions. So does the directory of a tier, with segments as LocalTieredStorage or Aiven's
plugin name them, unless the plugin compresses or encrypts them; with --offset only the segments
that hold these offsets are read. The name of the topic chooses the decoder, unless --raw is given.
A name with *, ? or [ is a pattern, if there is no file of this name. With --salvage, standard input
and archives are first copied to a temporary file without a name.

An archive of directories (.tar, also .gz, .bz2, .xz or .zst; .zip) stands for all partitions in it;
paths are shown as ARCHIVE!/PATH. Its logs, and the files beside them, are unpacked to a directory
in TMPDIR, which is removed at the end. Refused are archives that inflate out of proportion, to more
than there is room for, or to paths outside; links, devices and archives in an archive are named on
standard error and left out, and the exit status is 1. Of an archive that is damaged or cut short,
what can be read is read, the rest is named, and the exit status is 2. With --files in Kafka's text
such archives are not read; with --spark, and in object stores, they are refused.

With --format json the small files of a log directory (quorum-state, partition.metadata,
leader-epoch-checkpoint, the other checkpoints, meta.properties) are printed as one object each.""",
    ),
    (
        "A running cluster",
        """\
With --controllers the metadata log of a quorum is read from the controller that leads it: its
newest snapshot, then the log up to the high watermark. Addresses are tried until one names the
leader; after an election, reading goes on from the new leader. Nothing changes in the cluster, and
the reader does not appear among the observers. It needs CLUSTER_ACTION on the cluster.

--command-config names client properties, as for all of Kafka's clients. --config names the
configuration of a server: controller.quorum.bootstrap.servers or controller.quorum.voters give the
addresses, the first controller listener and sasl.mechanism.controller.protocol the login.
--controllers and --command-config override it. See kafka-cluster(1).

The file of a row is the address of the controller, its position is null; in text the position is
-1. Lines about files have the name of the file on the controller. With --follow, the log goes on
until Ctrl-C. If the controller deletes the next part of the log, or the snapshot that is being
read, the snapshot that replaces it follows, with a note on standard error.""",
    ),
    (
        "Choosing",
        """\
Of several options all must hold; of one that is repeated, any, but all of --where. --topic chooses
the records about a topic in logs of metadata and of coordinators, and all records of the topic's
own logs. --group chooses those whose key names a group: offsets that were committed, the group, its
members, and states of share groups. --type, --topic, --key, --group and --where show records, as
with --deep-iteration; the other filters choose batches where only batches are printed.""",
    ),
    (
        "Conditions",
        """\
A CONDITION of --where compares columns of the row (see Rows), and fields in its key, value and
headers: value.leader, value.isr.0, key.group, headers.trace-id. A part of a path with other
characters than letters, digits, _ and - is quoted: headers.'a b'. Of several headers with a key the
last counts. Text is quoted, by ' or "; a quote in it is written twice. There are = != < <= > >=,
~ and !~ with a regular expression, in (1, 2), 1 in value.isr, is null, is not null, len(value.isr),
and, or, not and parentheses. A column or field that is true or false is a condition by itself:
control. timestamp is compared with ms since the epoch or with a time, as --since takes it.

Nulls are those of SQL: a comparison with null, or with a field that the row does not have, is
neither true nor false, and not leaves it so. Only rows are kept of which the condition is true.
Names and types are checked by the message tables of the decoders, before anything is read.

A regular expression is found anywhere in the text, in time that grows with the text alone. It has
literals, . [a-z] [^a-z] \\d \\w \\s (of ASCII) ( ) (?: ) | * + ? {2,5}, ^ and $ for the ends of the
text, and (?i) before everything if case does not count. There are no references and no lookarounds.

Conditions on offset, timestamp, type, batch headers, sizes, headers and fields of metadata records
are decided before a record is decoded.""",
    ),
    (
        "Rows",
        """\
The forms json, csv and parquet have the same columns, which are null (in CSV: empty) where there is
no value: file, position and baseOffset of the batch; topic and partition of the log, by the name of
its directory; offset, timestamp (ms), timestampType; crcValid, false in each row of a batch whose
CRC does not match, in which nothing can be trusted; leaderEpoch, producerId, producerEpoch,
sequence, transactional, control, codec, keySize, valueSize, headers; kind (the decoder, control, or
damage), type and version of the record; key and value (JSON; of user records text, or base64 as
keyEncoding and valueEncoding say); topicId, partitionId and brokerId, which a metadata record is
about (topic and partition are those of the log that it is in); error, the reason of damage.
Credentials and secret configuration values are <redacted>, except in Kafka's text: values of type
PASSWORD in any release of Kafka, and of keys that no release has for the resource. With
--show-secrets only the owner of the --output may read it.""",
    ),
    (
        "Summary",
        """\
--summary counts the records that the same command would print, of whole batches with a right CRC.
Of several logs it prints a table, a line for each and a total; bytes are those of batches with such
records, times are UTC, and damage is that of the whole log, whatever is chosen. An unfinished batch
at the end of a log is no damage: a server that starts cuts it off. Open transactions follow, the
oldest first, with their transactional ids if __transaction_state is among the logs. With --log, or
of a single log, everything is shown: types, largest records and batches, the most frequent keys,
the producers with the most bytes, epochs, transactions, and for __consumer_offsets the groups, with
their lag by the ends of the logs that are given beside it. With --follow, the table is updated in
place as logs grow, once a second, with records and bytes a second; s sorts it by another column,
arrows scroll, p pauses, and q prints it for good. In a pipe there is a block for each change. Logs
that come after the start are not in it.

Counts of keys and producers are never too high. With many different ones they can be too low, by at
most the error that is printed, which is less than 1/256 of the total; what is not listed has at
most this error more than the last that is. Keys of more than 256 bytes are shown by their begin.
With a filter on anything but offsets and times, or a limit, open transactions are unknown.
--format json is one object, whose logs are in the order of --sort, without a total; with --follow
it is printed again when a log has grown, on a line of its own.""",
    ),
    (
        "Checking directories",
        """\
--check of the directory of a partition, or of a log directory with all its partitions, prints no
records. It foretells what Kafka's loader makes of each partition, by the rules of Kafka 4.3:
whether a start takes it, where its log begins and ends, and what a start removes. It then compares
the log with all files that speak of it: indexes, transaction indexes, producer snapshots, leader
epochs, the topic id, and the checkpoints of the log directory.

A line for each finding has its severity, the file, the reason, the cure and a code. loss: records
are lost, or the next start loses them; stops: a start refuses the partition, and the server does
not start or goes on without the log directory; risk: a server does not see it, and it hurts later;
note: a start mends it, and nothing is lost. A finding is "possible" if some evidence was set
aside, as a checkpoint that is older than the partition. A table at the end has the state of each
partition, by its worst finding: clean, mended by a start, damaged, start refused, data lost; its
offsets after a start; and what is lost, in offsets and bytes.

The exit status is 0 if there are only notes, 2 if not, and 1 if a partition cannot be read.
Offsets that no batch has are lost, unless compaction left them out: the cleaner's checkpoint, the
cleanup.policy in a metadata log among the directories, and batches with fewer records than offsets
tell of it. Without these, a gap is a loss if a record before it has no key or a key that came
before, which no cleaner leaves, or if it lies between two segments, which a broker that copies a
compacted log makes without a gap.

Segments in a tier are compared with the remote log metadata: with the partitions of
__remote_log_metadata among the directories, and those of --remote-log-metadata. Segments that have
no metadata are found, metadata of segments without their files, and offsets that neither a remote
segment has nor the local log, where the directories of both are given. Offsets that only a missing
segment had are lost. Without the metadata, what is in the tier is compared with itself and with the
local logs. Of a segment with several copies, --offset reads the one that readers are sent to.

A broker may run meanwhile: a finding about a partition that changes must be found again. Of files
that were copied without their log directory, only an unfinished end counts as mended. Large checks
run in as many processes as --jobs says, by default one a core; with --spark each partition is a
task.""",
    ),
    (
        "Checking files",
        """\
For files, --check prints a line for each finding, and a table with a row for each segment (with
the indexes named beside it) and each snapshot. To check an index, it reads the log. It does not
know the rest of the directory: an unfinished end counts as mended, and missing offsets are not
reported. In object stores, all files are checked alone.

After --files, with filters, --limit, --output, --follow, --salvage, --max-bytes, and options of
Kafka's text such as --deep-iteration, what is dumped is checked instead, as are archived segments
and standard input. The output is then the same as without --check, with a line for each finding on
standard error. It reports a wrong CRC, an unknown magic, bytes that are not a whole batch, a record
that cannot be decoded, a corrupt producer snapshot, and an index that does not fit its log, is out
of order or ends within an entry. Zero padding is not damage. Nor is an index as healthy brokers
have it, although Kafka's tool prints mismatches: zeros where no entry is yet, one entry for batches
that were appended at once, the time of compacted records. Records are checked as they are decoded:
without a decoder only their framing, with filters only those selected. The exit status is 0 for
sound files, 1 if nothing could be read, and 2 with findings.""",
    ),
    exit_status(
        {
            0: "done. Zero padding does not change it, nor does damage that Kafka's tool shows in"
            " its lines: a wrong CRC, bytes at the end that are not a batch, an unknown type.",
            1: "bad arguments, an unreadable file, or, in Kafka's text, damage that ends Kafka's"
            " tool with an exception; all readable records are printed.",
            2: "--check has findings; in rows, with --skip-invalid and --summary also without it: a"
            " wrong CRC, bytes that are not a batch.",
            3: "the output exists, and --overwrite is not given.",
            4: "a path names nothing, or no log knows a topic or group, but for --files of"
            " kafka-dump-log in text, and with --check, which only note it of topics and groups.",
        }
    ),
    (
        "Environment",
        """\
KRAFTOPS_ENGINE: native or reference, the engine that reads records; by default native, if built.
KRAFTOPS_DEBUG: set to any value, an error shows its stack trace.""",
    ),
)
