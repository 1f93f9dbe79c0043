"""Write the table of public configuration keys from the classes of Kafka's releases.

It needs Java and Maven: `PYTHONPATH=. python scripts/config_keys.py [RELEASE...]`.
"""

import sys
import textwrap
from pathlib import Path

from tests.helpers.kafka.tools.config_keys import config_keys

RELEASES = (
    *("2.8.2", "3.0.2", "3.1.2", "3.2.3", "3.3.2", "3.4.1", "3.5.2", "3.6.2", "3.7.2", "3.8.1"),
    *("3.9.1", "4.0.0", "4.1.1", "4.2.0", "4.3.1"),
)
PATH = "core/kraftops/records/secrets/config_keys.py"
_HEAD = '''\
"""Configuration keys of Kafka {first} to {last} that are not of type PASSWORD.

Made by scripts/config_keys.py from the definitions of each release: `KafkaConfig` and
`DynamicConfig.Broker`, `LogConfig`, `ClientMetricsConfigs` and `GroupConfig`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache


@cache
def public_configs() -> Mapping[int, frozenset[str]]:
    """Return the names of public keys, by the code of the resource type (`ConfigResource.Type`)."""
    return {{code: frozenset(names.split()) for code, names in _NAMES.items()}}


_NAMES = {{
'''


def main(releases: list[str]) -> int:
    """Write the module."""
    public: dict[int, set[str]] = {}
    secret: set[tuple[int, str]] = set()
    for release in releases:
        for code, name, kind in config_keys(release):
            public.setdefault(code, set()).add(name)
            if kind == "PASSWORD":
                secret.add((code, name))
    parts = [_HEAD.format(first=releases[0], last=releases[-1])]
    for code, names in sorted(public.items()):
        shown = sorted(name for name in names if (code, name) not in secret)
        lines = textwrap.fill(" ".join(shown), 92, break_long_words=False, break_on_hyphens=False)
        parts.append(f'    {code}: """\n{textwrap.indent(lines, " " * 8)}\n    """,\n')
    parts.append("}\n")
    Path(__file__).parent.parent.joinpath(PATH).write_text("".join(parts), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(RELEASES)))
