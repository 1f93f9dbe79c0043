"""Write the `server.properties` of nodes that run beside each other on loopback."""

import base64
import itertools
import os
import random
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qk"
BROKER, CONTROLLER, SASL = "PLAINTEXT", "CONTROLLER", "SASL_PLAINTEXT"  # names of listeners

# Linux takes the ports of clients from 32768 on: a client that tries such a port before its server
# has opened it may meet itself.
_PORTS = range(20000, 32768)
_TRIES = 100  # more ports are never taken
_SMALL = {
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "num.network.threads": "1",
    "num.io.threads": "2",
}
_SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule required;"


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A `server.properties` and what it says; *ports* by name of listener."""

    path: Path
    node_id: int
    settings: Mapping[str, str]
    ports: Mapping[str, int]

    @property
    def log_dirs(self) -> list[Path]:
        """The log directories, the one of the metadata first."""
        return [Path(directory) for directory in self.settings["log.dirs"].split(",")]

    def changed(self, settings: Mapping[str, str]) -> "Config":
        """Write the file anew with other settings."""
        return _written(self.path, self.node_id, {**self.settings, **settings}, self.ports)


def combined(
    folder: Path, *, static: bool = False, scram: bool = False, log_dirs: int = 1
) -> Config:
    """Configure a node that is broker and controller.

    Args:
        folder: where the file is written, and the log directories will be.
        static: whether its voters are set in the configuration (KIP-595), not by formatting it.
        scram: whether it has a listener where users log in too.
        log_dirs: how many log directories it has.
    """
    listeners = [BROKER, CONTROLLER, SASL] if scram else [BROKER, CONTROLLER]
    ports = dict(zip(listeners, _free_ports(len(listeners)), strict=True))
    settings = {"process.roles": "broker,controller", "inter.broker.listener.name": BROKER}
    settings |= _quorum({1: ports[CONTROLLER]}, static=static)
    if scram:
        settings |= {
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
            "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": _SCRAM,
        }
    return _node(folder, 1, settings, ports, log_dirs)


def controllers(
    folder: Path, count: int, *, static: bool = False, are_brokers: bool = False
) -> list[Config]:
    """Configure controllers that know each other, of the ids from 1 on; they may be brokers too."""
    free = _free_ports(2 * count)
    ports = dict(enumerate(free[:count], 1))
    settings = {"process.roles": "controller", **_quorum(ports, static=static)}
    if not are_brokers:
        return [_node(folder, node, settings, {CONTROLLER: port}) for node, port in ports.items()]
    settings |= {"process.roles": "broker,controller", "inter.broker.listener.name": BROKER}
    return [
        _node(folder, node, settings, {BROKER: broker_port, CONTROLLER: port})
        for (node, port), broker_port in zip(ports.items(), free[count:], strict=True)
    ]


def broker(folder: Path, node_id: int, quorum: Sequence[Config]) -> Config:
    """Configure a broker of the controllers *quorum*."""
    keys = ("controller.quorum.voters", "controller.quorum.bootstrap.servers")
    known = {key: quorum[0].settings[key] for key in keys if key in quorum[0].settings}
    settings = {"process.roles": "broker", "inter.broker.listener.name": BROKER, **known}
    return _node(folder, node_id, settings, {BROKER: _free_ports(1)[0]})


def later_controller(folder: Path, node_id: int, quorum: Sequence[Config]) -> Config:
    """Configure a controller that is not one of the first voters of a dynamic *quorum*."""
    key = "controller.quorum.bootstrap.servers"
    settings = {"process.roles": "controller", key: quorum[0].settings[key]}
    return _node(folder, node_id, settings, {CONTROLLER: _free_ports(1)[0]})


def initial_controllers(quorum: Sequence[Config]) -> str:
    """Return what `format --initial-controllers` wants to know of controllers (KIP-853)."""
    return ",".join(
        f"{config.node_id}@localhost:{config.ports[CONTROLLER]}:{directory_id(config.node_id)}"
        for config in quorum
    )


def directory_id(node_id: int) -> str:
    """Return the id that `initial_controllers` gives the metadata directory of a node."""
    return base64.urlsafe_b64encode(bytes([node_id]) * 16).decode().rstrip("=")


def _quorum(ports: Mapping[int, int], *, static: bool) -> dict[str, str]:
    addresses = {node: f"localhost:{port}" for node, port in ports.items()}
    if static:
        voters = ",".join(f"{node}@{address}" for node, address in addresses.items())
        return {"controller.quorum.voters": voters}
    return {"controller.quorum.bootstrap.servers": ",".join(addresses.values())}


def _node(
    folder: Path,
    node_id: int,
    settings: Mapping[str, str],
    ports: Mapping[str, int],
    log_dirs: int = 1,
) -> Config:
    directories = [str(folder / f"node-{node_id}" / f"d{n}") for n in range(1, log_dirs + 1)]
    protocols = {BROKER: "PLAINTEXT", CONTROLLER: "PLAINTEXT", SASL: "SASL_PLAINTEXT"}
    every = {
        **settings,
        "node.id": str(node_id),
        "log.dirs": ",".join(directories),
        "listeners": ",".join(f"{name}://localhost:{port}" for name, port in ports.items()),
        "controller.listener.names": CONTROLLER,
        "listener.security.protocol.map": ",".join(map(":".join, protocols.items())),
        **_SMALL,
    }
    folder.mkdir(parents=True, exist_ok=True)
    return _written(folder / f"node-{node_id}.properties", node_id, every, ports)


def _written(
    path: Path, node_id: int, settings: Mapping[str, str], ports: Mapping[str, int]
) -> Config:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return Config(path=path, node_id=node_id, settings=settings, ports=ports)


def _port_slices() -> Iterator[int]:
    """Go round the ports of this process: no two workers share one, and none comes again soon.

    A port is free only until its node opens it, and again while its node restarts: two workers that
    drew from all ports met on one.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    ports = _PORTS[worker::workers]
    start = random.SystemRandom().randrange(len(ports))
    return itertools.cycle([*ports[start:], *ports[:start]])


_ports = _port_slices()


def _free_ports(count: int) -> list[int]:
    free = (port for port in itertools.islice(_ports, count + _TRIES) if _is_free(port))
    return list(itertools.islice(free, count))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
