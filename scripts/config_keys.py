"""Write the table of public configuration keys from the classes of Kafka's releases.

It needs Java and Maven: `PYTHONPATH=. python scripts/config_keys.py [RELEASE...]`.
"""

import sys
from pathlib import Path

from tests.helpers.kafka.tools.config_keys import config_keys

RELEASES = (
    *("2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1"),
    *("3.9.1", "4.0.0", "4.1.1", "4.2.0", "4.3.1"),
)
PATH = "core/kraftops/records/secrets/config_keys.txt"
_HEAD = """\
# Configuration keys of Kafka {first} to {last} that are not of type PASSWORD, with the code of
# their resource type (`ConfigResource.Type`).
#
# Made by scripts/config_keys.py from the definitions of each release: `KafkaConfig` and
# `DynamicConfig.Broker`, `LogConfig`, `ClientMetricsConfigs` and `GroupConfig`.
"""


def main(releases: list[str]) -> int:
    """Write the table."""
    keys: set[tuple[int, str]] = set()
    secret: set[tuple[int, str]] = set()
    for release in releases:
        for code, name, kind in config_keys(release):
            keys.add((code, name))
            if kind == "PASSWORD":
                secret.add((code, name))
    lines = [f"{code} {name}\n" for code, name in sorted(keys - secret)]
    head = _HEAD.format(first=releases[0], last=releases[-1])
    Path(__file__).parent.parent.joinpath(PATH).write_text(head + "".join(lines), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(RELEASES)))
