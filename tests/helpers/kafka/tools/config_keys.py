"""The configuration keys of a Kafka release, by its own definitions."""

import subprocess
from pathlib import Path

from tests.helpers.kafka.jvm.jars import resolved_jars

DRIVER = Path(__file__).with_name("ConfigKeys.java")


def config_keys(release: str) -> list[tuple[int, str, str]]:
    """Return resource type, name and type of each key.

    Raises:
        MissingJarsError: there are no jars of the release.
    """
    found = (line.split(" ") for line in _output(release))
    return [(int(code), name, kind) for code, name, kind in found]


def sensitive_server_configs(release: str, names: list[str]) -> list[bool]:
    """Tell for each name whether Kafka takes values of such a key of a server for secrets.

    Raises:
        MissingJarsError: there are no jars of the release.
    """
    return [line == "true" for line in _output(release, *names)]


def _output(release: str, *names: str) -> list[str]:
    jars = resolved_jars(release)
    command = ["java", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-cp", f"{jars}/*"]
    done = subprocess.run(
        [*command, str(DRIVER), *names],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return done.stdout.decode().splitlines()
