"""Start real Kafka nodes on loopback, ask them, and stop them."""

import fcntl
import re
import shutil
import signal
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from kraftops.log.batch import Record
from tests.helpers.kafka.jvm.jars import cache_directory
from tests.helpers.kafka.jvm.jvm import OPTIONS, classpath, java_version
from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, CONTROLLER, SASL, Config, combined
from tests.helpers.kafka.nodes.protocol import AnswerError, Cluster, Connection, Quorum
from tests.helpers.logs.written import batch_bytes

START_SECONDS = 120
STOP_SECONDS = 30
HEAP = "256m"

_POLL_SECONDS = 0.05
_TAIL = 4000  # characters of a log in a message
_LOGGING = """<Configuration status="ERROR">
  <Appenders>
    <Console name="log"><PatternLayout pattern="[%d] %p %m (%c)%n"/></Console>
  </Appenders>
  <Loggers><Root level="INFO"><AppenderRef ref="log"/></Root></Loggers>
</Configuration>
"""

# What a node logs that will never have a leader if no other node is there (4.3.1, then 3.9.1).
_LEADERLESS = re.compile(
    r"Starting voters are VoterSet\(voters=\{\}\)"
    r"|Election timed out before receiving sufficient vote responses"
    r"|Election has timed out"
)
_NO_LEADER_YET = "we still don't know the high water mark yet"  # every 100 ms
_REGISTRATION = "initial.broker.registration.timeout.ms"  # of 60 s, a slow machine needs more
_PATIENCE = 50  # such lines; a lone voter elects itself before the first


class NodeError(Exception):
    """A node did not do what it should have, with the end of its log."""


class Node:
    """A running Kafka server.

    What it is asked may raise OSError and `wire.AnswerError`.
    """

    def __init__(self, jars: Path, config: Config, *options: str) -> None:
        """Start it, with further *options* for its JVM; `running` also cleans up."""
        self.config = config
        self.log = config.path.with_suffix(".log")
        self._command = [*_tied_to_us(), "java", f"-Xmx{HEAP}", *OPTIONS, *options]
        self._command += [f"-Dlog4j2.configurationFile={_logging_of(config)}"]
        self._command += ["-cp", classpath(jars), "kafka.Kafka", str(config.path)]
        self._command += ["--override", f"{_REGISTRATION}={START_SECONDS * 1000}"]
        self.start()

    def start(self) -> None:
        """Start it, again if it was stopped."""
        with self.log.open("ab") as log:
            self._started_at = log.tell()
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.config.path.parent,
            )

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; None while it runs."""
        return self._process.poll()

    def logged(self) -> str:
        """Return what it logged since it started."""
        return self.log.read_bytes()[self._started_at :].decode("utf-8", "replace")

    def wait_ready(self, count: int = 1, limit: float = START_SECONDS) -> None:
        """Wait until it knows *count* unfenced brokers; a mere controller: controllers, and a leader.

        Raises:
            NodeError: it has ended, or knows less than *count* when *limit* seconds are over.
        """
        if not until(lambda: self.is_ready(count) or self.exit_code is not None, limit):
            raise self._error(f"was not ready after {limit} s")
        if self.exit_code is not None:
            raise self._error(f"ended with {self.exit_code}")

    def is_ready(self, count: int = 1) -> bool:
        """Tell whether it answers, and knows *count* nodes, as `wait_ready` counts them."""
        try:
            described = self.cluster()
        except (OSError, AnswerError):
            return False
        return len(described.nodes) >= count and described.controller >= 0

    def cluster(self) -> Cluster:
        """Describe the cluster."""
        is_broker = BROKER in self.config.ports
        with self._connected(BROKER if is_broker else CONTROLLER) as connection:
            return connection.cluster(of_controllers=not is_broker)

    def quorum(self) -> Quorum:
        """Describe the quorum; a broker knows it, and the controller that leads it."""
        with self._connected() as connection:
            return connection.quorum()

    def features(self) -> dict[str, int]:
        """Return the finalized levels of features, metadata.version among them."""
        with self._connected() as connection:
            return connection.features()

    def register_brokers(self, ids: Iterable[int]) -> None:
        """Register brokers that do not run, with this controller, which leads."""
        with self._connected(CONTROLLER) as connection:
            features = connection.features()
            for broker_id in ids:
                connection.register_broker(broker_id, CLUSTER_ID, features)

    def create_topic(self, name: str, partitions: int = 1) -> None:
        """Create a topic, and wait until all its partitions have a leader."""
        with self._connected() as connection:
            connection.create_topic(name, partitions)
            if not until(lambda: connection.topics().get(name) == partitions):
                raise self._error(f"has no leaders for the topic {name}")

    def produce(self, topic: str, batch: bytes, partition: int = 0) -> int:
        """Append a batch to a partition of a topic; return the offset that it got."""
        with self._connected() as connection:
            return connection.produce(topic, batch, partition)

    def fill(self, topic: str, partitions: int = 1, records: int = 100) -> None:
        """Create a topic, and append records to each partition once its new leader takes them."""
        batch = batch_bytes([Record(number, 1, None, b"x") for number in range(records)])

        def is_filled(partition: int) -> bool:
            try:
                return self.produce(topic, batch, partition) >= 0
            except AnswerError:
                return False

        self.create_topic(topic, partitions)
        for partition in range(partitions):
            if not until(partial(is_filled, partition)):
                raise self._error(f"takes no records for {topic}-{partition}")

    def topics(self) -> set[str]:
        """Return the names of the topics."""
        with self._connected() as connection:
            return set(connection.topics())

    def logs_in(self, user: str, password: str) -> bool:
        """Tell whether a user can log in by SCRAM-SHA-256, at a node that has a listener for it."""
        with self._connected(SASL) as connection:
            return connection.logs_in(user, password)

    def stop(self, limit: float = STOP_SECONDS) -> int:
        """Stop it as operators do, after *limit* seconds by force; return its exit code."""
        if self.exit_code is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(limit)
        except subprocess.TimeoutExpired:
            return self.kill()

    def kill(self) -> int:
        """End it at once; return its exit code."""
        if self.exit_code is None:
            self._process.kill()
        return self._process.wait()

    def _connected(self, listener: str | None = None) -> Connection:
        return Connection(self.config.ports[listener or next(iter(self.config.ports))])

    def _error(self, what: str) -> NodeError:
        return NodeError(f"node {self.config.node_id} {what}:\n{self.logged()[-_TAIL:]}")


def tool_command(jars: Path, main_class: str) -> list[str]:
    """Return the command of a tool of a release, which starts as quickly as a node."""
    options = [f"-Xmx{HEAP}", *OPTIONS, *_shared_classes(jars)]
    return ["java", *options, "-cp", classpath(jars), main_class]


@contextmanager
def running(jars: Path, config: Config) -> Iterator[Node]:
    """Start a node of a release on formatted directories; it is not ready yet.

    At the end it is killed, which takes no time: stop it where it matters what it leaves behind.
    """
    node = Node(jars, config, *_shared_classes(jars))
    try:
        yield node
    finally:
        node.kill()


class Start(NamedTuple):
    """The outcome of a start: the exit code of a node that ended, or the reason of a timeout."""

    ready: bool
    code: int | None = None
    reason: str = ""


def starts(jars: Path, config: Config, limit: float = 60) -> Start:
    """Say whether a node becomes ready beside which no other of its cluster runs, and if not, why.

    A node waits for ever where it finds itself among no voters, or among too many; it is given up
    after *limit* seconds, or much sooner, when its log says so.
    """
    with running(jars, config) as node:
        found: list[Start] = []

        def is_decided() -> bool:
            code = node.exit_code  # before the log is read: then that is all of it
            log = node.logged()
            if code is not None:
                found.append(Start(ready=False, code=code, reason=_last_words(log)))
            elif node.is_ready():
                found.append(Start(ready=True))
            elif leaderless := _LEADERLESS.search(log):
                found.append(Start(ready=False, reason=leaderless[0]))
            elif log.count(_NO_LEADER_YET) >= _PATIENCE:
                found.append(Start(ready=False, reason=_NO_LEADER_YET))
            return bool(found)

        if until(is_decided, limit):
            return found[0]
        return Start(ready=False, reason=f"not ready after {limit} s: {_last_words(node.logged())}")


def until(condition: Callable[[], object], limit: float = START_SECONDS) -> bool:
    """Wait until a condition is true; return whether it was within *limit* seconds."""
    end = time.monotonic() + limit
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _last_words(log: str) -> str:
    """Return the last error in a log with the exceptions below it, or else the last line."""
    lines = [line for line in log.splitlines() if not line.startswith("\t")]
    errors = [at for at, line in enumerate(lines) if re.match(r"\[[^]]*\] (ERROR|FATAL) ", line)]
    if not errors:
        return lines[-1] if lines else ""
    end = errors[-1] + 1
    while end < len(lines) and not lines[end].startswith("["):
        end += 1
    return "\n".join(lines[errors[-1] : end])


def _logging_of(config: Config) -> Path:
    path = config.path.with_name("log4j2.xml")
    path.write_text(_LOGGING)
    return path


def _tied_to_us() -> list[str]:
    """Return the prefix of a command that dies with the thread that starts it.

    Otherwise nodes would outlive a test run that is killed.
    """
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


@cache
def _shared_classes(jars: Path) -> tuple[str, ...]:
    """Return the option that has a node load its classes from an archive (JEP 350).

    From start to end a node takes 1.1 s then, 1.8 s otherwise.
    """
    name = f"{jars.name}-{zlib.crc32(java_version().encode()):08x}.jsa"
    archive = cache_directory() / name
    with archive.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not archive.exists():
            _archive_classes(jars, archive)
    return (f"-XX:SharedArchiveFile={archive}",) if archive.exists() else ()


def _archive_classes(jars: Path, archive: Path) -> None:
    """Make the archive of what a node loads that starts, takes a topic and stops."""
    with tempfile.TemporaryDirectory(dir=archive.parent) as scratch:
        config = combined(Path(scratch), static=True)
        directory = config.log_dirs[0]
        directory.mkdir(parents=True)
        formatted = f"version=1\nnode.id=1\ncluster.id={CLUSTER_ID}\n"
        (directory / "meta.properties").write_text(formatted)
        made = Path(scratch, "archive")
        node = Node(jars, config, f"-XX:ArchiveClassesAtExit={made}")
        try:
            node.wait_ready()
            node.create_topic("t")
            node.stop()
        finally:
            node.kill()
        if made.exists():  # not every JVM makes one
            made.rename(archive)  # an interrupted one is never taken for a whole one
