"""Examples and chapters of the manual of `kafka-dump-log`."""

from __future__ import annotations

from kraftops_cli.syntax.chapters import chapters
from kraftops_cli.syntax.environment import SPARK, environment
from kraftops_cli.syntax.exit_status import exit_status

EXAMPLES = {
    "the contents of a log, in numbers": (
        "kafka-dump-log --cluster-metadata-decoder --summary 0.log"
    ),
    "the records of a metadata log": (
        "kafka-dump-log --cluster-metadata-decoder --files 00000000000000000000.log"
    ),
    "only the batches, of two files": "kafka-dump-log --files 0.log,00000000000000004711.log",
    "committed offsets": "kafka-dump-log --offsets-decoder --files 00000000000000000000.log",
    "does an index fit its log?": "kafka-dump-log --verify-index-only --files 0.index,0.timeindex",
    "what became of a topic, as JSON": (
        "kafka-dump-log --topic orders --format json /var/kafka/__cluster_metadata-0"
    ),
    "changes that left partitions with one replica in sync": (
        'kafka-dump-log --where "len(value.isr) = 1" /var/kafka/__cluster_metadata-0'
    ),
    "is anything damaged, and what would a start mend?": "kafka-dump-log --check /var/kafka",
    "new records of a running cluster's metadata log": (
        "kafka-dump-log --controllers localhost:9093 --follow --format json"
    ),
}
SECTIONS = {
    **chapters(__file__, "manual.txt"),
    **exit_status(
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
    **environment(SPARK),
}
