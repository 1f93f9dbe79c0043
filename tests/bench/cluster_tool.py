"""Compare `kafka-cluster` with Kafka's own ClusterTool, and live metadata with files.

    python tests/bench/cluster_tool.py [--runs 11] [--partitions 100000] [--write]

Ours and Kafka's run in turn, whole processes, against one real node. Nothing else should run on
the machine.
"""

import argparse
import gc
import os
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1]))  # for `tests`, which is not installed

from kraftops.image.load.loading import load  # noqa: E402
from kraftops.image.state.health import health_counts  # noqa: E402
from kraftops.wire.config.settings import Settings  # noqa: E402
from kraftops.wire.net.addresses import parse_bootstrap  # noqa: E402
from kraftops.wire.quorum.live_image import LiveImage  # noqa: E402
from kraftops.wire.rpc.endpoints import Endpoints  # noqa: E402
from tests.bench.make_snapshots import Partitions, write_snapshot  # noqa: E402
from tests.bench.measure.process import run_to_file  # noqa: E402
from tests.bench.measure.report import HEADER, Pair, machine, row, yes  # noqa: E402
from tests.core.wire.auth.test_jks import jks  # noqa: E402
from tests.helpers.kafka.jvm.jars import java_command, kafka_jars  # noqa: E402
from tests.helpers.kafka.nodes.clusters import Shape, configured, formatted, running_cluster  # noqa: E402
from tests.helpers.kafka.nodes.nodes import running  # noqa: E402
from tests.helpers.wire.certificates import authority, signed_by  # noqa: E402

MAIN_CLASS = "org.apache.kafka.tools.ClusterTool"
RESULTS = HERE / "RESULTS-cluster.md"
PLAIN_BAR, SECURE_BAR = 5, 4
LIMIT = 0.2  # seconds, of `cluster-id` on PLAINTEXT
LIVE_BAR = 1.5
SECURE = "SECURE"
LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required"
CLIENT = """\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config={} username="alice" password="in-wonderland";
ssl.truststore.location={}/trust.jks
ssl.truststore.password=changeit
"""


def secure_shape(folder: Path) -> Shape:
    """Return a node with a SASL_SSL listener, and write the files of its clients."""
    ca = authority()
    own = signed_by(ca, "server")
    (folder / "server.pem").write_text(own.key_pem() + own.pem)
    (folder / "trust.jks").write_bytes(jks([ca.der], "changeit"))
    (folder / "client.properties").write_text(CLIENT.format(LOGIN, folder))
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "listener.name.secure.sasl.enabled.mechanisms": "SCRAM-SHA-512",
        "listener.name.secure.scram-sha-512.sasl.jaas.config": f"{LOGIN};",
    }
    return Shape(
        is_combined=True,
        is_dynamic=True,
        settings=settings,
        broker_listeners={SECURE: "SASL_SSL"},
        credentials=("SCRAM-SHA-512=[name=alice,password=in-wonderland]",),
    )


def tools(jars: Path, folder: Path, runs: int) -> dict[str, list[Pair]]:
    """Return the pairs of runs of `cluster-id`, by protocol."""
    ours = str(Path(sysconfig.get_path("scripts"), "kafka-cluster"))
    found: dict[str, list[Pair]] = {}
    with running_cluster(jars, folder, secure_shape(folder)) as cluster:
        cases = {
            "cluster-id, PLAINTEXT": ["-b", cluster.brokers],
            "cluster-id, SASL_SSL with SCRAM": [
                *("-b", cluster.addresses(SECURE)),
                *("-c", str(folder / "client.properties")),
            ],
        }
        for name, options in cases.items():
            arguments = ["cluster-id", *options]
            commands = [ours, *arguments], java_command(jars, MAIN_CLASS, *arguments)
            for number in range(runs + 1):
                pair = Pair(*(run_to_file(command, folder / "output") for command in commands))
                if number:  # the first pair warms the page cache
                    found.setdefault(name, []).append(pair)
    return found


def loads(jars: Path, folder: Path, partitions: int, runs: int) -> list[tuple[float, float]]:
    """Return seconds to load a planted snapshot and the log after it, live and from the files."""
    # Else the controller would fence the snapshot's brokers, and the log grow by their partitions.
    shape = Shape(settings={"broker.session.timeout.ms": "3600000"})
    [config] = configured(folder, shape)
    formatted(config, [config], shape)
    directory = config.log_dirs[0] / "__cluster_metadata-0"
    directory.mkdir(exist_ok=True)
    write_snapshot(directory, Partitions(partitions))
    found = []
    with running(jars, config) as node:
        node.wait_ready()
        addresses = parse_bootstrap(f"localhost:{next(iter(config.ports.values()))}")
        for _ in range(runs):
            begun = time.perf_counter()
            live = LiveImage(Endpoints(addresses, Settings()))
            between = time.perf_counter()
            filed = load(directory)
            found.append((between - begun, time.perf_counter() - between))
            assert live.snapshot is not None
            assert health_counts(live.image) == health_counts(filed)
            assert health_counts(filed).partitions == partitions
    return found


def table(pairs: dict[str, list[Pair]], live: list[tuple[float, float]], partitions: int) -> str:
    """Return the tables, in Markdown."""
    bars = (PLAIN_BAR, SECURE_BAR)
    lines = [
        row(name, "wall", bar, found)
        for (name, found), bar in zip(pairs.items(), bars, strict=True)
    ]
    plain = median(pair.ours.wall for pair in next(iter(pairs.values())))
    lines.append(
        f"| cluster-id, PLAINTEXT | wall ≤ {LIMIT} s | {plain:.3g} s | | | {yes(plain <= LIMIT)} |"
    )
    over_wire, from_file = (median(column) for column in zip(*live, strict=True))
    ratio = median(a / b for a, b in live)
    head = "| case | bar | live | files | achieved | met |\n|---|---|---:|---:|---:|---|"
    replay = (
        f"| load of {partitions:,} partitions | ≤ {LIVE_BAR} of the files' | {over_wire:.3g} s"
        f" | {from_file:.3g} s | {ratio:.2f} | {yes(ratio <= LIVE_BAR)} |"
    )
    lines += ["", head, replay]
    return "\n".join([HEADER, *lines]) + "\n"


def results(text: str, runs: int, load: float) -> str:
    """Return the whole of the results file."""
    return f"""# `kafka-cluster` against Kafka's ClusterTool, and live metadata against files

Written by `python tests/bench/cluster_tool.py --runs {runs} --write`. Whole processes, ours and
Kafka's in turn, medians of {runs} pairs; "achieved" is the median of the pairs' ratios. Of Java,
Kafka's tool gets the heap and the flags of its own script. The live load is that of a snapshot
planted in a controller's directory and the log after it, the other that of the same directory.

{machine(load)}
{text}"""


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=11, help="pairs of each case")
    parser.add_argument("--partitions", type=int, default=100_000)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name} too")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    gc.disable()  # as in our commands
    jars = kafka_jars()
    if not jars:
        raise SystemExit(1)
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        pairs = tools(jars, Path(one), given.runs)
        live = loads(jars, Path(two), given.partitions, given.runs)
    text = table(pairs, live, given.partitions)
    sys.stdout.write(text)
    if given.write:
        RESULTS.write_text(results(text, given.runs, load), "utf-8")


if __name__ == "__main__":
    main()
