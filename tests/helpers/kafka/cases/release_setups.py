"""Configurations and directories, sound and not, and the releases of Kafka that they are tried on."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.helpers.kafka.cases.damaged_directories import at
from tests.helpers.kafka.nodes.configs import Config

RELEASES = ("4.3.1", "4.0.0", "3.9.1")
FOREIGN_HOST = "192.0.2.1"
"""An address for documentation, which no host has (RFC 5737)."""


class Setup(NamedTuple):
    """A node that is formatted, changed, verified and started.

    Attributes:
        name: its name.
        shape: `node` and `static` are broker and controller, `controller`, `broker`, `two` has two
            log directories; `used-X` has the directories that Kafka X has used.
        settings: keys of its configuration; `{node}` is its folder, `{broker}` and `{controller}`
            are its ports.
        releases: the releases that it is started on.
        formatted: the release, and levels of features, that its directories are formatted with;
            without one, those of the release that it is started on.
        change: what is done to its directories.
        occupied: the address and port that another process listens on.
        has_home: whether verify may look into the jars of the installation.
        differs: by release, why verify and Kafka may differ.
    """

    name: str
    shape: str = "node"
    settings: Mapping[str, str] = {}
    releases: tuple[str, ...] = RELEASES
    formatted: str = ""
    change: Callable[[Config], object] | None = None
    occupied: str = ""
    has_home: bool = False
    differs: Mapping[str, str] = {}


OWN = "org.apache.kafka."
JMX = f"{OWN}common.metrics.JmxReporter"
STANDARD = f"{OWN}metadata.authorizer.StandardAuthorizer"
GONE_HANDLER = f"{OWN}common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"
HANDLER = f"{OWN}common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
TIERED = f"{OWN}server.log.remote.storage.LocalTieredStorage"
PROVIDERS = f"{OWN}common.config.provider."
NEW, OLD, OLDEST = (("4.3.1",), ("4.0.0",), ("3.9.1",))
FOUR = NEW + OLD
BEFORE = OLD + OLDEST
SASL_LISTENER = {
    "listeners": "PLAINTEXT://localhost:{broker},CONTROLLER://localhost:{controller},"
    "SASL_PLAINTEXT://localhost:0",
    "advertised.listeners": "PLAINTEXT://localhost:{broker}",
    "sasl.enabled.mechanisms": "PLAIN",
}
JAAS = "listener.name.sasl_plaintext.plain.sasl.jaas.config"
PLAIN = f'{OWN}common.security.plain.PlainLoginModule required user_a="b";'


def _keys(*names: str, value: str = "com.example.Absent") -> list[tuple[str, Mapping[str, str]]]:
    return [(name, {name: value}) for name in names]


def _classes() -> list[Setup]:
    """Keys that name classes: those that are there, gone, foreign, or of another kind."""
    authorizer = "authorizer.class.name"
    setups = [
        Setup(
            "authorizer standard", settings={authorizer: STANDARD, "super.users": "User:ANONYMOUS"}
        ),
        Setup(
            "authorizer with blanks",
            settings={authorizer: f" {STANDARD} ", "super.users": "User:ANONYMOUS"},
        ),
        Setup("authorizer empty", settings={authorizer: ""}),
        Setup(
            "authorizer of ZooKeeper",
            settings={authorizer: "kafka.security.authorizer.AclAuthorizer"},
        ),
        Setup(
            "authorizer of ZooKeeper on a controller",
            "controller",
            {authorizer: "kafka.security.authorizer.AclAuthorizer"},
        ),
        Setup(
            "authorizer of 1.0", settings={authorizer: "kafka.security.auth.SimpleAclAuthorizer"}
        ),
        Setup("authorizer misspelt", settings={authorizer: STANDARD + "s"}, releases=NEW),
        Setup("authorizer foreign", settings={authorizer: "com.example.Absent"}, has_home=True),
        Setup(
            "authorizer foreign on a controller",
            "controller",
            {authorizer: "com.example.Absent"},
            NEW,
            has_home=True,
        ),
        Setup(
            "authorizer foreign on a broker",
            "broker",
            {authorizer: "com.example.Absent"},
            NEW,
            has_home=True,
        ),
        Setup("authorizer of another kind", settings={authorizer: JMX}),
        Setup(
            "principal builder own",
            settings={
                "principal.builder.class": f"{OWN}common.security.authenticator.DefaultKafkaPrincipalBuilder"
            },
        ),
        Setup("principal builder of another kind", settings={"principal.builder.class": JMX}),
        Setup(
            "principal builder of a listener",
            settings={"listener.name.plaintext.principal.builder.class": "com.example.Absent"},
            has_home=True,
        ),
        Setup(
            "principal builder of no listener",
            settings={"listener.name.nowhere.principal.builder.class": "com.example.Absent"},
            has_home=True,
        ),
        Setup("reporter own", settings={"metric.reporters": JMX}),
        Setup("reporters empty", settings={"metric.reporters": ""}),
        Setup(
            "reporters two, one absent",
            settings={"metric.reporters": f"{JMX},com.example.Absent"},
            has_home=True,
        ),
        Setup("reporter of another kind", settings={"metric.reporters": STANDARD}),
        Setup(
            "reporter on a controller",
            "controller",
            {"metric.reporters": "com.example.Absent"},
            has_home=True,
        ),
        Setup(
            "reporter of tools",
            settings={
                "metric.reporters": f"{OWN}tools.PushHttpMetricsReporter",
                "metrics.url": "http://localhost:1",
            },
            releases=NEW,
            differs=dict.fromkeys(NEW, "what a plug-in needs of its own is not known"),
        ),
        Setup(
            "yammer reporter own",
            settings={
                "kafka.metrics.reporters": "kafka.metrics.KafkaCSVMetricsReporter",
                "kafka.csv.metrics.dir": "{node}/csv",
            },
        ),
        Setup(
            "yammer reporter on a controller",
            "controller",
            {"kafka.metrics.reporters": "com.example.Absent"},
            NEW,
            has_home=True,
        ),
        Setup(
            "yammer reporter of another kind",
            settings={"kafka.metrics.reporters": JMX},
            releases=NEW,
        ),
        Setup(
            "selector own",
            settings={"replica.selector.class": f"{OWN}common.replica.RackAwareReplicaSelector"},
        ),
        Setup(
            "selector on a controller",
            "controller",
            {"replica.selector.class": "com.example.Absent"},
            NEW + OLDEST,
            has_home=True,
        ),
        Setup("selector of another kind", settings={"replica.selector.class": JMX}, releases=NEW),
        Setup(
            "topic policy of another kind",
            settings={"create.topic.policy.class.name": JMX},
            releases=NEW + OLDEST,
        ),
        Setup(
            "topic policy of another kind on a broker",
            "broker",
            {"create.topic.policy.class.name": JMX},
            NEW,
        ),
        Setup(
            "topic policy absent on a broker",
            "broker",
            {"create.topic.policy.class.name": "com.example.Absent"},
            NEW + OLDEST,
            has_home=True,
        ),
        Setup(
            "quota callback of another kind",
            settings={"client.quota.callback.class": JMX},
            releases=NEW + OLDEST,
        ),
        Setup(
            "quota callback absent on a controller",
            "controller",
            {"client.quota.callback.class": "com.example.Absent"},
            NEW,
            has_home=True,
        ),
        Setup(
            "engine own",
            settings={
                "ssl.engine.factory.class": f"{OWN}common.security.ssl.DefaultSslEngineFactory"
            },
            releases=NEW + OLDEST,
        ),
        Setup("engine of another kind", settings={"ssl.engine.factory.class": JMX}, releases=NEW),
        Setup(
            "login own",
            settings={"sasl.login.class": f"{OWN}common.security.authenticator.DefaultLogin"},
            releases=NEW,
        ),
        Setup("login of another kind", settings={"sasl.login.class": JMX}, releases=NEW),
        Setup("login handler gone", settings={"sasl.login.callback.handler.class": GONE_HANDLER}),
        Setup("login handler own", settings={"sasl.login.callback.handler.class": HANDLER}),
        Setup(
            "handler of a listener without SASL",
            settings={
                "listener.name.plaintext.plain.sasl.server.callback.handler.class": "com.example.Absent"
            },
            has_home=True,
        ),
        Setup(
            "handler of a listener with SASL",
            settings=SASL_LISTENER
            | {
                JAAS: PLAIN,
                "listener.name.sasl_plaintext.plain.sasl.server.callback.handler.class": "com.example.Absent",
            },
            has_home=True,
        ),
        Setup("sasl", settings=SASL_LISTENER | {JAAS: PLAIN}),
        Setup(
            "sasl module absent",
            settings=SASL_LISTENER | {JAAS: "com.example.Absent required;"},
            has_home=True,
        ),
        Setup(
            "sasl module of 4.0",
            settings=SASL_LISTENER | {JAAS: f"{OWN}common.security.plain.Absent required;"},
            releases=NEW,
        ),
        Setup(
            "sasl without jaas",
            settings=SASL_LISTENER,
            releases=NEW + OLDEST,
            differs=dict.fromkeys(RELEASES, "an option of the JVM may name a file with logins"),
        ),
        Setup(
            "security provider absent",
            settings={"security.providers": "com.example.Absent"},
            has_home=True,
        ),
        Setup("assignor by name", settings={"group.consumer.assignors": "uniform"}),
        Setup(
            "assignor by class",
            settings={"group.consumer.assignors": f"{OWN}coordinator.group.assignor.RangeAssignor"},
        ),
        Setup(
            "assignor absent",
            settings={"group.consumer.assignors": "range,com.example.Absent"},
            has_home=True,
        ),
        Setup(
            "assignor absent on a controller",
            "controller",
            {"group.consumer.assignors": "com.example.Absent"},
            has_home=True,
        ),
        Setup("assignor of another kind", settings={"group.consumer.assignors": JMX}),
        Setup(
            "share assignor absent",
            settings={"group.share.assignors": "com.example.Absent"},
            has_home=True,
        ),
        Setup(
            "persister absent",
            settings={"group.share.persister.class.name": "com.example.Absent"},
            has_home=True,
        ),
        Setup(
            "persister absent on a controller",
            "controller",
            {"group.share.persister.class.name": "com.example.Absent"},
            NEW,
            has_home=True,
        ),
        Setup(
            "persister own",
            settings={
                "group.share.persister.class.name": f"{OWN}server.share.persister.NoOpStatePersister"
            },
        ),
        Setup(
            "jwt retriever absent",
            settings={"sasl.oauthbearer.jwt.retriever.class": "com.example.Absent"},
            has_home=True,
        ),
    ]
    absent = _keys(
        "principal.builder.class",
        "metric.reporters",
        "kafka.metrics.reporters",
        "replica.selector.class",
        "create.topic.policy.class.name",
        "alter.config.policy.class.name",
        "client.quota.callback.class",
        "ssl.engine.factory.class",
        "sasl.login.class",
        "sasl.server.callback.handler.class",
        "sasl.client.callback.handler.class",
    )
    return setups + [
        Setup(f"{name} absent", settings=settings, releases=NEW + OLDEST, has_home=True)
        for name, settings in absent
    ]


def _tiers() -> list[Setup]:
    """Remote log storage."""
    on = {"remote.log.storage.system.enable": "true"}
    storage, metadata = (
        f"remote.log.{kind}.manager.class.name" for kind in ("storage", "metadata")
    )
    listener = {"remote.log.metadata.manager.listener.name": "PLAINTEXT"}
    topic_based = f"{OWN}server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager"
    return [
        Setup("tiers without a manager", settings=on),
        Setup("tiers without a manager on a controller", "controller", on),
        Setup("tiers without a manager on a broker", "broker", on, NEW),
        Setup(
            "tiers with a foreign manager",
            settings=on | {storage: "com.example.Absent"},
            has_home=True,
        ),
        Setup("tiers with a manager of another kind", settings=on | {storage: JMX} | listener),
        Setup(
            "tiers without metadata manager",
            settings=on | {storage: JMX, metadata: "com.example.Absent"},
            has_home=True,
        ),
        Setup("tiers with an empty manager", settings=on | {storage: ""}, releases=NEW + OLDEST),
        Setup("tiers off, manager absent", settings={storage: "com.example.Absent"}, has_home=True),
        Setup(
            "tiers with a path that is not there",
            settings=on
            | listener
            | {
                storage: "com.example.Absent",
                "remote.log.storage.manager.class.path": "{node}/none/*",
            },
            releases=NEW,
            has_home=True,
        ),
        Setup("tiers, own metadata manager named", settings={metadata: topic_based}, releases=NEW),
        Setup(
            "tiers, listener unknown",
            settings=on | {storage: JMX, "remote.log.metadata.manager.listener.name": "NOWHERE"},
            releases=NEW + OLDEST,
        ),
    ]


def _providers() -> list[Setup]:
    """Providers of configuration values."""
    vault = {"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"}
    file = {
        "config.providers": "file",
        "config.providers.file.class": f"{PROVIDERS}FileConfigProvider",
    }
    password = "ssl.keystore.password"
    return [
        Setup(
            "foreign provider for a keystore",
            settings=vault | {password: "${vault:x:y}"},
            has_home=True,
        ),
        Setup(
            "foreign provider on a controller",
            "controller",
            vault | {password: "${vault:x:y}"},
            has_home=True,
        ),
        Setup("foreign provider for nothing", settings=vault, has_home=True),
        Setup(
            "foreign provider for directories",
            settings=vault | {"log.dirs": "${vault:x:y}"},
            releases=NEW,
            has_home=True,
        ),
        Setup(
            "own provider",
            settings={
                "config.providers": "env",
                "config.providers.env.class": f"{PROVIDERS}EnvVarConfigProvider",
                password: "${env:NOTHING}",
            },
        ),
        Setup(
            "file provider",
            settings=file | {"num.partitions": "${file:{node}/values:n}"},
            change=lambda config: at(config, "values").write_text("n=3\n"),
        ),
        Setup(
            "file provider without the file",
            settings=file | {"num.partitions": "${file:{node}/values:n}"},
            releases=NEW + OLDEST,
        ),
        Setup(
            "provider gone",
            settings={
                "config.providers": "p",
                "config.providers.p.class": f"{PROVIDERS}AbsentConfigProvider",
            },
        ),
        Setup(
            "provider of another kind",
            settings={"config.providers": "p", "config.providers.p.class": JMX},
            releases=NEW,
        ),
        Setup(
            "provider without a class",
            settings={"config.providers": "p", password: "${p:x:y}"},
            releases=NEW + OLDEST,
        ),
        Setup("placeholder without providers", settings={password: "${p:x:y}"}, releases=NEW),
    ]


def _keys_of_releases() -> list[Setup]:
    """Keys that releases know, knew, or limit in their own way."""
    rows: dict[str, Mapping[str, str]] = {
        "zookeeper connect": {"zookeeper.connect": "localhost:2181"},
        "zookeeper migration": {"zookeeper.metadata.migration.enable": "true"},
        "zookeeper migration with connect": {
            "zookeeper.metadata.migration.enable": "true",
            "zookeeper.connect": "localhost:1",
        },
        "zookeeper timeout is not a number": {"zookeeper.session.timeout.ms": "long"},
        "control plane": {"control.plane.listener.name": "PLAINTEXT"},
        "inter broker protocol": {"inter.broker.protocol.version": "3.9"},
        "inter broker protocol is unknown": {"inter.broker.protocol.version": "9.9"},
        "message format is old": {"log.message.format.version": "0.10.0"},
        "message format is unknown": {"log.message.format.version": "9.9"},
        "downconversion": {"log.message.downconversion.enable": "false"},
        "downconversion is not a boolean": {"log.message.downconversion.enable": "perhaps"},
        "password encoder": {"password.encoder.secret": "x", "password.encoder.iterations": "1"},
        "id generation": {"broker.id.generation.enable": "true"},
        "reserved ids": {"reserved.broker.max.id": "-5"},
        "reserved ids below": {"reserved.broker.max.id": "0"},
        "jmx included": {"auto.include.jmx.reporter": "no"},
        "master key": {"delegation.token.master.key": "abc"},
        "required acks": {"offsets.commit.required.acks": "0"},
        "timestamp difference": {"log.message.timestamp.difference.max.ms": "-1"},
        "unknown key": {"some.thing": "1"},
        "new coordinator": {"group.coordinator.new.enable": "true"},
        "new coordinator is not a boolean": {"group.coordinator.new.enable": "perhaps"},
        "protocols with streams": {
            "group.coordinator.rebalance.protocols": "classic,consumer,streams"
        },
        "protocols with share": {"group.coordinator.rebalance.protocols": "classic,consumer,share"},
        "protocols of nobody": {"group.coordinator.rebalance.protocols": "classic,nobody"},
        "protocols without classic": {"group.coordinator.rebalance.protocols": "consumer"},
        "elr key": {"eligible.leader.replicas.enable": "true"},
        "share threads": {"share.coordinator.threads": "0"},
        "small segments": {"log.segment.bytes": "2000"},
        "segments of a megabyte": {"log.segment.bytes": "1048576"},
        "recovery threads": {"num.recovery.threads.per.data.dir": "0"},
        "zstd level": {"compression.zstd.level": "23"},
        "imbalance": {"leader.imbalance.per.broker.percentage": "many"},
        "unstable features": {"unstable.feature.versions.enable": "true"},
        "metadata segments": {"metadata.log.segment.bytes": "1000"},
        "internal metadata segments": {"internal.metadata.log.segment.bytes": "1000"},
        "cache ttl": {"remote.log.index.file.cache.ttl.ms": "-2"},
        "auto join": {"controller.quorum.auto.join.enable": "true"},
        "cordoned": {"cordoned.log.dirs": "/nowhere"},
        "cleaner off": {"log.cleaner.enable": "false"},
        "cleaner threads": {"log.cleaner.threads": "0"},
        "copier threads": {"remote.log.manager.copier.thread.pool.size": "-1"},
        "share groups": {"group.share.max.groups": "0"},
        "share delivery": {"group.share.delivery.count.limit": "1"},
        "share locks": {"group.share.partition.max.record.locks": "20"},
        "linger": {"share.coordinator.append.linger.ms": "-2"},
        "commit linger": {"group.coordinator.append.linger.ms": "-2"},
        "txn verification": {"transaction.partition.verification.enable": "perhaps"},
        "index interval": {"log.index.size.max.bytes": "1"},
        "isr of nothing": {"min.insync.replicas": "0"},
        "heartbeats": {"broker.heartbeat.interval.ms": "9000"},
        "retention": {"log.retention.ms": "0"},
        "compression by name": {"compression.type": "brotli"},
        "listener twice": {
            "listeners": "PLAINTEXT://localhost:{broker},PLAINTEXT://localhost:{controller}"
        },
        "early start": {"early.start.listeners": "PLAINTEXT"},
        "directory failures": {"log.dir.failure.timeout.ms": "0"},
        "regex refresh": {"group.consumer.regex.refresh.interval.ms": "1"},
        "consumer migration": {"group.consumer.migration.policy": "sideways"},
        "quota windows": {"quota.window.num": "0"},
    }
    return [Setup(name, settings=settings) for name, settings in rows.items()]


def _features() -> list[Setup]:
    """Levels of features in bootstrap.checkpoint and in logs."""
    return [
        Setup("formatted for 4.3", formatted="4.3"),
        Setup("formatted for 4.3, a controller", "controller", formatted="4.3"),
        Setup("formatted for 4.0", formatted="4.0"),
        Setup("formatted for 3.9", formatted="3.9"),
        Setup("formatted for 3.7, two directories", "two", formatted="3.7"),
        Setup("formatted for 3.6, two directories", "two", formatted="3.6"),
        Setup("formatted for 3.3", "static", formatted="3.3"),
        Setup("formatted with share groups", formatted="4.0 share.version=1"),
        Setup("formatted with streams", formatted="4.0 streams.version=1"),
        Setup("formatted with groups", formatted="3.9 group.version=1"),
        Setup("formatted with transactions", formatted="3.9 transaction.version=2"),
        Setup("formatted with elr", formatted="4.0 eligible.leader.replicas.version=1"),
        Setup("formatted with groups of 4.3", formatted="3.9 streams.version=1 share.version=1"),
        Setup("a broker formatted for 4.3", "broker", formatted="4.3", releases=BEFORE),
        Setup(
            "without bootstrap",
            formatted="4.3",
            change=lambda config: at(config, "d1/bootstrap.checkpoint").unlink(),
        ),
        Setup("used by 4.3.1", "used-4.3.1"),
        Setup("used by 4.0.0", "used-4.0.0"),
        Setup("used by 3.9.1", "used-3.9.1"),
        Setup("a broker's log of 4.3.1", "broker-4.3.1", releases=BEFORE),
    ]


def _listeners() -> list[Setup]:
    """Addresses and ports."""
    return [
        Setup(
            "foreign address",
            settings={
                "listeners": f"PLAINTEXT://{FOREIGN_HOST}:{{broker}},CONTROLLER://localhost:{{controller}}"
            },
        ),
        Setup(
            "foreign address of a controller",
            "controller",
            {
                "listeners": f"CONTROLLER://{FOREIGN_HOST}:{{controller}}",
                "controller.quorum.bootstrap.servers": f"{FOREIGN_HOST}:{{controller}}",
            },
            NEW,
        ),
        Setup(
            "foreign address, advertised only",
            settings={"advertised.listeners": f"PLAINTEXT://{FOREIGN_HOST}:{{broker}}"},
            releases=NEW,
        ),
        Setup("used port", occupied="127.0.0.1:{broker}"),
        Setup(
            "used port of a controller",
            "controller",
            occupied="127.0.0.1:{controller}",
            releases=NEW + OLDEST,
        ),
        Setup("port used on another address", occupied="127.0.0.2:{broker}"),
        Setup("port used on every address", occupied="0.0.0.0:{broker}", releases=NEW),
        Setup("port used on every address, also of IPv6", occupied="[::]:{broker}", releases=NEW),
        Setup("port used on IPv6 loopback", occupied="[::1]:{broker}", releases=NEW),
        Setup(
            "every address, one used",
            settings={"listeners": "PLAINTEXT://:{broker},CONTROLLER://localhost:{controller}"},
            occupied="127.0.0.1:{broker}",
            releases=NEW,
        ),
        Setup(
            "every address, IPv6 used",
            settings={
                "listeners": "PLAINTEXT://0.0.0.0:{broker},CONTROLLER://localhost:{controller}",
                "advertised.listeners": "PLAINTEXT://localhost:{broker}",
            },
            occupied="[::1]:{broker}",
            releases=NEW,
        ),
        Setup(
            "every address",
            settings={
                "listeners": "PLAINTEXT://0.0.0.0:{broker},CONTROLLER://localhost:{controller}",
                "advertised.listeners": "PLAINTEXT://localhost:{broker}",
            },
        ),
        Setup(
            "another loopback",
            settings={
                "listeners": "PLAINTEXT://127.0.0.9:{broker},CONTROLLER://localhost:{controller}",
                "advertised.listeners": "PLAINTEXT://127.0.0.9:{broker}",
            },
            releases=NEW,
        ),
        Setup(
            "IPv6 address that is foreign",
            settings={
                "listeners": "PLAINTEXT://[2001:db8::1]:{broker},CONTROLLER://localhost:{controller}"
            },
            releases=NEW + OLDEST,
        ),
        Setup(
            "any port",
            settings={
                "listeners": "PLAINTEXT://localhost:{broker},CONTROLLER://localhost:{controller},OTHER://localhost:0",
                "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,OTHER:PLAINTEXT",
            },
            releases=NEW,
        ),
    ]


_DAMAGE: dict[str, bytes] = {
    "garbage": b"\xff\xfe garbage \x00" * 5,
    "text": b"nothing that counts\n",
    "version": b"7\n0\n",
    "short": b"0\n3\nkept 0 1\n",
    "negative": b"0\n1\nkept 0 -5\n",
    "fields": b"0\n1\nkept 0\n",
    "empty": b"",
}
CHECKPOINTS = (
    "recovery-point-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "cleaner-offset-checkpoint",
)


def _checkpoints() -> list[Setup]:
    """Checkpoint files of a directory, damaged."""

    def damaged(name: str, content: bytes) -> Callable[[Config], object]:
        return lambda config: at(config, f"d1/{name}").write_bytes(content)

    setups = [
        Setup(
            f"{name}: {kind}",
            "used",
            change=damaged(name, content),
            releases=NEW + OLDEST if kind == "garbage" else NEW,
        )
        for name in CHECKPOINTS
        for kind, content in _DAMAGE.items()
    ]
    folder = [
        Setup(
            f"{name}: a directory",
            "used",
            change=lambda config, name=name: _directory(at(config, f"d1/{name}")),
            releases=NEW,
        )
        for name in CHECKPOINTS
    ]
    fresh = [
        Setup(
            f"{name}: text, without partitions",
            change=damaged(name, _DAMAGE["text"]),
            releases=NEW + OLDEST,
            differs=dict.fromkeys(
                RELEASES, "it is read when the first partition comes, and the broker ends then"
            )
            if name.startswith("replication")
            else {},
        )
        for name in CHECKPOINTS
    ]
    second = [
        Setup(
            f"{name}: text, in the second directory",
            "usedtwo",
            change=lambda config, name=name: at(config, f"d2/{name}").write_bytes(_DAMAGE["text"]),
            releases=NEW + OLDEST,
        )
        for name in CHECKPOINTS
    ]
    controller = Setup(
        "checkpoints of a controller",
        "controller",
        change=damaged(CHECKPOINTS[0], _DAMAGE["text"]),
        releases=NEW,
    )
    return [*setups, *folder, *fresh, *second, controller]


def _directory(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.mkdir()


def _plain() -> list[Setup]:
    return [
        Setup("node"),
        Setup("static", "static"),
        Setup("controller", "controller"),
        Setup("broker", "broker"),
        Setup("two directories", "two"),
        Setup("metadata apart", settings={"metadata.log.dir": "{node}/m"}),
    ]


def _others() -> list[Setup]:
    """Setups that no rule was written for."""
    ssl = {
        "listeners": "PLAINTEXT://localhost:{broker},CONTROLLER://localhost:{controller},SSL://localhost:0",
        "advertised.listeners": "PLAINTEXT://localhost:{broker}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SSL:SSL",
    }
    rows: dict[str, Mapping[str, str]] = {
        "authorizer without super users": {"authorizer.class.name": STANDARD},
        "super users misspelt": {"authorizer.class.name": STANDARD, "super.users": "alice"},
        "authorizer of java": {"authorizer.class.name": "java.lang.String"},
        "reporter of java": {"metric.reporters": "java.util.ArrayList"},
        "principal builder of java": {"principal.builder.class": "java.lang.String"},
        "reporter twice": {"metric.reporters": f"{JMX},{JMX}"},
        "reporter with blanks": {"metric.reporters": f" {JMX} , {JMX} "},
        "reporter by its simple name": {"metric.reporters": "JmxReporter"},
        "selector by its simple name": {"replica.selector.class": "RackAwareReplicaSelector"},
        "selector empty": {"replica.selector.class": ""},
        "assignors empty": {"group.consumer.assignors": ""},
        "assignor by an unknown name": {"group.consumer.assignors": "sticky"},
        "quota callback empty": {"client.quota.callback.class": ""},
        "principal builder in capitals": {"Principal.Builder.Class": "com.example.Absent"},
        "listener key in capitals": {
            "listener.name.PLAINTEXT.principal.builder.class": "com.example.Absent"
        },
        "handler without a mechanism": {
            "listener.name.plaintext.sasl.server.callback.handler.class": GONE_HANDLER
        },
        "engine of a listener": {
            "listener.name.plaintext.ssl.engine.factory.class": "org.apache.kafka.Absent"
        },
        "engine of the controller": {
            "listener.name.controller.ssl.engine.factory.class": "org.apache.kafka.Absent"
        },
        "reporters of a listener": {
            "listener.name.plaintext.metric.reporters": "org.apache.kafka.Absent"
        },
        "number of a listener": {"listener.name.plaintext.max.connections": "many"},
        "tls": ssl
        | {"ssl.keystore.location": "{node}/none.jks", "ssl.keystore.password": "secret"},
        "tls without a keystore": ssl,
        "tls in no listener": {
            "ssl.keystore.location": "{node}/none.jks",
            "ssl.keystore.password": "secret",
        },
        "tls key that is no key": ssl
        | {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": "x",
            "ssl.keystore.certificate.chain": "y",
        },
        "scram": SASL_LISTENER
        | {
            "sasl.enabled.mechanisms": "SCRAM-SHA-256",
            "listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config": f"{OWN}common.security.scram.ScramLoginModule required;",
        },
        "mechanism of nobody": SASL_LISTENER
        | {
            "sasl.enabled.mechanisms": "NONE-SUCH",
            "listener.name.sasl_plaintext.none-such.sasl.jaas.config": PLAIN,
        },
        "two mechanisms, one without jaas": SASL_LISTENER
        | {"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256", JAAS: PLAIN},
        "jaas that is broken": SASL_LISTENER | {JAAS: "nonsense"},
        "jaas of another class": SASL_LISTENER | {JAAS: f"{JMX} required;"},
        "oauth without anything": SASL_LISTENER
        | {
            "sasl.enabled.mechanisms": "OAUTHBEARER",
            "listener.name.sasl_plaintext.oauthbearer.sasl.jaas.config": f"{OWN}common.security.oauthbearer.OAuthBearerLoginModule required;",
        },
        "advertised port 0": {"advertised.listeners": "PLAINTEXT://localhost:0"},
        "advertised name of nobody": {
            "advertised.listeners": "PLAINTEXT://no.such.host.example:1234"
        },
        "delegation tokens": {"delegation.token.secret.key": "abc"},
        "log dir timeouts": {"log.dir.failure.timeout.ms": "1"},
        "rack": {"broker.rack": "r1"},
        "snapshots": {"metadata.log.max.record.bytes.between.snapshots": "1"},
        "one cleaner": {"log.cleaner.dedupe.buffer.size": "1048576"},
        "request size": {"socket.request.max.bytes": "1"},
        "fetch size": {"fetch.max.bytes": "1023"},
        "purgatory": {"fetch.purgatory.purge.interval.requests": "0"},
        "offsets partitions": {"offsets.topic.num.partitions": "0"},
        "share topic": {"share.coordinator.state.topic.num.partitions": "0"},
        "telemetry": {"telemetry.max.bytes": "0"},
        "tiers of a listener": {
            "remote.log.storage.system.enable": "true",
            "remote.log.storage.manager.class.name": TIERED,
            "remote.log.metadata.manager.listener.name": "PLAINTEXT",
        },
        "quorum of bootstrap servers elsewhere": {
            "controller.quorum.bootstrap.servers": "localhost:1"
        },
        "voters and bootstrap servers": {"controller.quorum.voters": "1@localhost:{controller}"},
        "threads": {"num.network.threads": "0"},
        "alter policy own": {"alter.config.policy.class.name": "org.apache.kafka.Absent"},
        "unknown listener protocol": {
            "listener.security.protocol.map": "PLAINTEXT:PLAIN,CONTROLLER:PLAINTEXT"
        },
        "file provider that is limited": {
            "config.providers": "file",
            "config.providers.file.class": f"{PROVIDERS}FileConfigProvider",
            "config.providers.file.param.allowed.paths": "/nowhere",
            "ssl.key.password": "${file:/etc/passwd:x}",
        },
        "environment provider": {
            "config.providers": "env",
            "config.providers.env.class": f"{PROVIDERS}EnvVarConfigProvider",
            "log.retention.hours": "${env:NOTHING}",
        },
    }
    reasons = {
        "authorizer without super users": "who may register brokers is not judged",
        "super users misspelt": "what a plug-in needs of its own is not known",
        "tls": "key stores are not opened",
        "tls key that is no key": "key stores are not opened",
        "two mechanisms, one without jaas": "an option of the JVM may name a file with logins",
        "request size": "no limit is judged by what it leaves of the protocol",
    }
    return [
        Setup(
            f"other: {name}",
            settings=settings,
            has_home=True,
            differs=dict.fromkeys(RELEASES, reasons[name]) if name in reasons else {},
        )
        for name, settings in rows.items()
    ]


SETUPS = {
    setup.name: setup
    for setup in (
        *_plain(),
        *_classes(),
        *_tiers(),
        *_providers(),
        *_keys_of_releases(),
        *_features(),
        *_listeners(),
        *_checkpoints(),
        *_others(),
    )
}
