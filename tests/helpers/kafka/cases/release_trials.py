"""Starts of nodes on several releases of Kafka, compared with what verify says of them.

`python -m tests.helpers.kafka.cases.release_trials [--only TEXT] [--outcomes FILE]` starts all
setups, one at a time, and prints each disagreement. FILE keeps the outcomes: a second run verifies
anew, and starts only what is not in there.
"""

import argparse
import json
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from kraftops.errors import ConfigError
from kraftops.image.verify.nodes import verify_nodes
from kraftops.storage.config.server_config import load_config
from kraftops.storage.logdirs.node import read_node
from kraftops.storage.releases.installation import read_installation
from kraftops.storage.releases.table import release_named
from kraftops.storage.verify.release import Target
from tests.helpers.kafka.cases.damaged_directories import copy_node, format_node
from tests.helpers.kafka.cases.release_setups import RELEASES, SETUPS, Setup
from tests.helpers.kafka.cases.start_trials import OFFLINE, will_wait
from tests.helpers.kafka.jvm.jars import resolved_jars
from tests.helpers.kafka.nodes.configs import (
    BROKER,
    CONTROLLER,
    Config,
    broker,
    combined,
    controllers,
)
from tests.helpers.kafka.nodes.nodes import running, until

LIMIT = 45.0  # seconds
STARTED = "Kafka Server started"


class Trial(NamedTuple):
    """What verify says of a setup on a release, and what Kafka does."""

    says: str
    stops: bool
    does: str
    words: str

    @property
    def agrees(self) -> bool:
        """Whether it starts as verify says."""
        return self.stops is (self.does != "starts")


class ReleaseTrials:
    """Trials in a folder; nodes that others need run until the end."""

    def __init__(self, folder: Path, outcomes: dict[str, tuple[str, str]] | None = None) -> None:
        self._folder = folder
        self._outcomes = {} if outcomes is None else outcomes
        self._count = 0
        self._templates: dict[str, Config] = {}
        self._controller: tuple[str, Config] | None = None
        self._running = ExitStack()

    def close(self) -> None:
        """End the nodes that others need."""
        self._running.close()

    def trial(self, setup: Setup, release: str) -> Trial:
        """Format, change, verify and start a node."""
        self._count += 1
        folder = self._folder / f"{self._count}"
        config = self._node(setup, release, folder)
        with ExitStack() as stack:
            if setup.occupied:
                stack.enter_context(_occupied(setup.occupied.format(**_ports(config))))
            says, stops = self._verified(setup, release, config)
            key = f"{release} {setup.name}"
            if key not in self._outcomes:
                if setup.shape.startswith("broker"):
                    self._run_controller(setup, release)
                self._outcomes[key] = self._started(config, release, setup)
        shutil.rmtree(folder)
        return Trial(says, stops, *self._outcomes[key])

    def _node(self, setup: Setup, release: str, folder: Path) -> Config:
        shape, _, used_by = setup.shape.partition("-")
        if shape in ("used", "usedtwo"):
            config = combined(folder, static=True, log_dirs=1 if shape == "used" else 2)
            copy_node(self._used(used_by or release, len(config.log_dirs)), config)
        elif shape == "broker":
            _, controller = self._controller_of(used_by or release)
            config = broker(folder, 101, [controller])
            if used_by:
                copy_node(self._used_broker(used_by), config)
        elif shape == "controller":
            config = controllers(folder, 1)[0]
        else:
            config = combined(folder, static=shape == "static", log_dirs=2 if shape == "two" else 1)
        settings = {key: _filled(text, config) for key, text in setup.settings.items()}
        if "metadata.log.dir" in settings:
            config = config.changed(settings)
        if not used_by and not shape.startswith("used"):
            level, *features = (setup.formatted or ".".join(release.split(".")[:2])).split(" ")
            format_node(
                config,
                release=level,
                features=features,
                standalone=shape not in ("static", "broker"),
            )
        config = config.changed(settings)
        if setup.change:
            setup.change(config)
        return config

    def _verified(self, setup: Setup, release: str, config: Config) -> tuple[str, bool]:
        home = folder_of_installation(self._folder, release) if setup.has_home else None
        installation = read_installation(str(home)) if home else None
        level = release_named(".".join(release.split(".")[:2]))
        assert level
        try:
            loaded = load_config(str(config.path), changed_keys=level.changed_keys)
        except ConfigError as error:
            return f"bad-configuration {error.message}", True
        findings = verify_nodes(
            [read_node(loaded)], is_here=True, target=Target(level, installation)
        ).findings
        stopping = [finding for finding in findings if finding.is_severe]
        notes = [f"(note {finding.code})" for finding in findings if not finding.is_severe]
        says = "; ".join([f"{finding.code} {finding}" for finding in stopping] + notes)
        return says, bool(stopping)

    def _started(self, config: Config, release: str, setup: Setup) -> tuple[str, str]:
        with running(resolved_jars(release), config) as node:
            outcome: list[str] = []

            def is_decided() -> bool:
                code, log = node.exit_code, node.logged()
                if code is not None:
                    outcome.append("ends")
                elif STARTED in log and (setup.shape != "controller" or node.is_ready()):
                    outcome.append("loses" if OFFLINE.search(log) else "starts")
                elif not setup.shape.startswith("broker") and will_wait(log):
                    outcome.append("waits")
                return bool(outcome)

            is_decided_in_time = until(is_decided, LIMIT)
            log = node.logged()
        return outcome[0] if is_decided_in_time else "waits", _last_words(log)

    def _used(self, release: str, log_dirs: int) -> Config:
        name = f"used-{release}-{log_dirs}"
        if name not in self._templates:
            config = combined(self._folder / name, static=True, log_dirs=log_dirs)
            format_node(config, release=".".join(release.split(".")[:2]))
            with running(resolved_jars(release), config) as node:
                node.wait_ready()
                node.fill("kept", partitions=2)
                node.stop()
            self._templates[name] = config
        return self._templates[name]

    def _used_broker(self, release: str) -> Config:
        name = f"broker-{release}"
        if name not in self._templates:
            self._start_controller(release)
            _, controller = self._controller_of(release)
            config = broker(self._folder / name, 101, [controller])
            format_node(config, release=".".join(release.split(".")[:2]))
            with running(resolved_jars(release), config) as node:
                node.wait_ready()
                node.fill("kept", partitions=2)
                node.stop()
            self._templates[name] = config
        return self._templates[name]

    def _controller_of(self, release: str) -> tuple[str, Config]:
        if self._controller is None or self._controller[0] != release:
            self._running.close()
            config = controllers(self._folder / f"controller-{release}-{self._count}", 1)[0]
            format_node(config, release=".".join(release.split(".")[:2]), standalone=True)
            self._controller = release, config
        return self._controller

    def _run_controller(self, setup: Setup, release: str) -> None:
        self._start_controller(setup.shape.partition("-")[2] or release)

    def _start_controller(self, release: str) -> None:
        _, config = self._controller_of(release)
        if not config.path.with_suffix(".log").exists():
            self._running.enter_context(running(resolved_jars(release), config)).wait_ready()


def folder_of_installation(folder: Path, release: str) -> Path:
    """Return an installation with the jars of a release, as a distribution lays them out."""
    home = folder / f"kafka-{release}"
    if not home.exists():
        home.mkdir()
        (home / "libs").symlink_to(resolved_jars(release))
    return home


def _ports(config: Config) -> Mapping[str, object]:
    return {
        "node": config.log_dirs[0].parent,
        "broker": config.ports.get(BROKER),
        "controller": config.ports.get(CONTROLLER),
    }


def _filled(text: str, config: Config) -> str:
    for name, place in _ports(config).items():
        text = text.replace(f"{{{name}}}", str(place)) if f"${{{name}}}" not in text else text
    return text


@contextmanager
def _occupied(address: str) -> Iterator[None]:
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if "[" in host else socket.AF_INET
    with socket.socket(family) as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host.strip("[]"), int(port)))
        taken.listen()
        yield


def _last_words(log: str) -> str:
    lines = [line for line in log.splitlines() if not line.startswith("\t")]
    errors = [line for line in lines if "ERROR" in line or "FATAL" in line or "xception" in line]
    return "\n".join(errors[:2] + errors[-3:])[:1500] if errors else "\n".join(lines[-2:])[:500]


def main() -> int:
    """Run all trials; return 1 if there are disagreements without a reason."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of the name of setups")
    parser.add_argument(
        "--release", help="only this one; all setups are tried on one that they do not name"
    )
    parser.add_argument("--outcomes", type=Path, help="file of outcomes, read and written")
    options = parser.parse_args()
    path: Path | None = options.outcomes
    outcomes = json.loads(path.read_text()) if path and path.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        trials = ReleaseTrials(Path(folder), outcomes)
        agreed = named = unnamed = 0
        try:
            for release in [options.release] if options.release else RELEASES:
                for setup in SETUPS.values():
                    is_tried = release in setup.releases or release not in RELEASES
                    if not is_tried or options.only not in setup.name:
                        continue
                    trial = trials.trial(setup, release)
                    if path:
                        path.write_text(json.dumps(outcomes, indent=1))
                    reason = setup.differs.get(release)
                    agreed += trial.agrees
                    named += not trial.agrees and reason is not None
                    unnamed += not trial.agrees and reason is None
                    if not trial.agrees:
                        sys.stdout.write(
                            f"{release} {setup.name}: Kafka {trial.does}; verify: "
                            f"{trial.says or 'starts'}\n    {reason or trial.words}\n"
                        )
                        sys.stdout.flush()
        finally:
            trials.close()
    sys.stdout.write(f"{agreed} agree, {named} differ with a reason, {unnamed} without\n")
    return 1 if unnamed else 0


if __name__ == "__main__":
    sys.exit(main())
