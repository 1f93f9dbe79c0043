"""Real listeners with TLS, certificates and passwords, and their errors."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kraftops.wire.config.client_settings import load_settings
from kraftops.wire.net.addresses import parse_bootstrap
from kraftops.wire.quorum.live_log import CaughtUp, LiveLog
from kraftops.wire.rpc.endpoints import Endpoints
from tests.core.wire.auth.test_jks import jks
from tests.helpers.kafka.nodes.clusters import Cluster, Shape, running_cluster
from tests.helpers.kafka.nodes.configs import BROKER, CLUSTER_ID, CONTROLLER
from tests.helpers.spark.streams import Stream
from tests.helpers.tools.console import CLUSTER, Done, run_command
from tests.helpers.wire.certificates import Signed, authority, signed_by

pytestmark = [pytest.mark.kafka, pytest.mark.slow]

SCRAM, TLS, OAUTH, CTLS, CPLAIN = "SCRAM", "TLS", "OAUTH", "CTLS", "CPLAIN"
SECURITY = "org.apache.kafka.common.security"
ALICE, SECRET = "alice", "in-wonderland"
SCRAM_LOGIN = f'{SECURITY}.scram.ScramLoginModule required username="{ALICE}" password="{SECRET}";'
PLAIN_LOGIN = f'{SECURITY}.plain.PlainLoginModule required username="{ALICE}" password="{SECRET}";'
OAUTH_LOGIN = f"{SECURITY}.oauthbearer.OAuthBearerLoginModule required"


@dataclass(frozen=True)
class Secured:
    """A node with listeners of all kinds, and the files that clients need."""

    cluster: Cluster
    folder: Path
    ca: Signed

    def run(self, listener: str, *lines: str, command: str = "cluster-id") -> Done:
        path = self.properties(*lines)
        option = "-C" if listener in (CTLS, CPLAIN, CONTROLLER) else "-b"
        address = self.cluster.addresses(listener)
        done = run_command(command, option, address, "-c", str(path), program=CLUSTER)
        assert "Traceback" not in done.err
        assert SECRET not in done.err
        if done.code:
            assert address in done.err
        return done

    def properties(self, *lines: str) -> Path:
        path = self.folder / "client.properties"
        path.write_text("\n".join(lines) + "\n")
        return path

    @property
    def trust(self) -> str:
        return f"ssl.truststore.location={self.folder}/trust.jks"

    def own(self, name: str = "client") -> tuple[str, str]:
        return (
            f"ssl.keystore.location={self.folder}/{name}.p12",
            "ssl.keystore.password=changeit",
        )


@pytest.fixture(scope="module")
def secured(jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    folder = tmp_path_factory.mktemp("secured")
    ca, stranger = authority(), authority("stranger")
    server, client = signed_by(ca, "server"), signed_by(ca, "client")
    (folder / "server.pem").write_text(server.key_pem() + server.pem)
    (folder / "ca.pem").write_text(ca.pem)
    (folder / "trust.jks").write_bytes(jks([ca.der], "changeit"))
    (folder / "client.p12").write_bytes(client.pkcs12("changeit", ca))
    (folder / "stranger.p12").write_bytes(signed_by(stranger, "x").pkcs12("changeit", stranger))
    settings = {
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "server.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(folder / "ca.pem"),
        "listener.name.tls.ssl.client.auth": "required",
        "listener.name.ctls.ssl.client.auth": "required",
        "listener.name.scram.sasl.enabled.mechanisms": "SCRAM-SHA-256,SCRAM-SHA-512",
        "listener.name.scram.scram-sha-256.sasl.jaas.config": f"{SECURITY}.scram.ScramLoginModule required;",
        "listener.name.scram.scram-sha-512.sasl.jaas.config": f"{SECURITY}.scram.ScramLoginModule required;",
        "listener.name.cplain.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.cplain.plain.sasl.jaas.config": f'{SECURITY}.plain.PlainLoginModule required user_{ALICE}="{SECRET}";',
        "listener.name.oauth.sasl.enabled.mechanisms": "OAUTHBEARER",
        "listener.name.oauth.oauthbearer.sasl.jaas.config": f'{OAUTH_LOGIN} unsecuredLoginStringClaim_sub="broker";',
    }  # fmt: skip
    shape = Shape(
        is_combined=True,
        is_dynamic=True,
        settings=settings,
        broker_listeners={SCRAM: "SASL_SSL", TLS: "SSL", OAUTH: "SASL_PLAINTEXT"},
        controller_listeners={CTLS: "SSL", CPLAIN: "SASL_SSL"},
        credentials=tuple(
            f"{each}=[name={ALICE},password={SECRET}]"
            for each in ("SCRAM-SHA-256", "SCRAM-SHA-512")
        ),
    )
    with running_cluster(jars, folder, shape) as cluster:
        yield Secured(cluster, folder, ca)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_over_tls(secured: Secured, mechanism: str) -> None:
    done = secured.run(
        SCRAM, "security.protocol=SASL_SSL", f"sasl.mechanism={mechanism}",
        f"sasl.jaas.config={SCRAM_LOGIN}", secured.trust,
    )  # fmt: skip

    assert (done.code, done.text, done.err) == (0, f"Cluster ID: {CLUSTER_ID}\n", "")


@pytest.mark.parametrize("listener", [TLS, CTLS])
def test_mutual_tls(secured: Secured, listener: str) -> None:
    done = secured.run(listener, "security.protocol=SSL", secured.trust, *secured.own())

    assert (done.code, done.text, done.err) == (0, f"Cluster ID: {CLUSTER_ID}\n", "")


def test_unsecured_token(secured: Secured) -> None:
    done = secured.run(
        OAUTH, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER",
        f'sasl.jaas.config={OAUTH_LOGIN} unsecuredLoginStringClaim_sub="me";',
    )  # fmt: skip

    assert (done.code, done.err) == (0, "")


def test_token_of_a_file(secured: Secured) -> None:
    (secured.folder / "token").write_text("no token at all")
    done = secured.run(
        OAUTH, "security.protocol=SASL_PLAINTEXT", "sasl.mechanism=OAUTHBEARER",
        f"sasl.jaas.config={OAUTH_LOGIN};",
        f"sasl.oauthbearer.token.endpoint.url=file://{secured.folder}/token",
    )  # fmt: skip

    assert done.code == 1
    assert ": {" in done.err or "authentication" in done.err.lower()


LISTENERS = {
    "mutual TLS": (CTLS, ("security.protocol=SSL",)),
    "PLAIN over TLS": (
        CPLAIN,
        ("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", f"sasl.jaas.config={PLAIN_LOGIN}"),
    ),
}


@pytest.mark.parametrize("how", LISTENERS)
def test_metadata_log_is_read(secured: Secured, how: str) -> None:
    listener, lines = LISTENERS[how]
    path = secured.properties(*lines, secured.trust, *secured.own())
    settings = load_settings(str(path), lambda _: None)
    with LiveLog(Endpoints(parse_bootstrap(secured.cluster.addresses(listener)), settings)) as log:
        *_, last = log.read()

        assert isinstance(last, CaughtUp)
        assert last.offset > 0


@pytest.mark.parametrize("how", LISTENERS)
def test_metadata_log_is_a_stream(secured: Secured, how: str) -> None:
    pytest.importorskip("pyspark")
    listener, lines = LISTENERS[how]
    pairs = [line.partition("=") for line in (*lines, secured.trust, *secured.own())]
    options = {f"kafka.{key}": value for key, _, value in pairs}

    stream = Stream(None, {"controllers": secured.cluster.addresses(listener), **options})

    assert "REGISTER_BROKER_RECORD" in {row["type"] for row in stream.step()}


@pytest.mark.parametrize(
    ("listener", "lines", "cause"),
    [
        pytest.param(SCRAM, ("security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", "sasl.jaas.config=" + SCRAM_LOGIN.replace(SECRET, "wrong"), "{trust}"), "Authentication failed during authentication due to invalid credentials with SASL mechanism SCRAM-SHA-256", id="wrong password"),
        pytest.param(SCRAM, ("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", f"sasl.jaas.config={PLAIN_LOGIN}", "{trust}"), "Client SASL mechanism 'PLAIN' not enabled in the server, enabled mechanisms are [SCRAM-SHA-", id="other mechanism"),
        pytest.param(SCRAM, ("security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", f"sasl.jaas.config={SCRAM_LOGIN}"), "TLS: its certificate is refused: ", id="unknown authority"),
        pytest.param(SCRAM, ("security.protocol=SSL", "{trust}"), "closes the connection", id="TLS without SASL"),
        pytest.param(TLS, ("security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", f"sasl.jaas.config={SCRAM_LOGIN}", "{trust}", "{own}"), "it expects no SASL there", id="SASL to TLS"),
        pytest.param(BROKER, ("security.protocol=SASL_PLAINTEXT", "sasl.mechanism=SCRAM-SHA-256", f"sasl.jaas.config={SCRAM_LOGIN}"), "it expects no SASL there", id="SASL to plain"),
        pytest.param(TLS, (), "it expects TLS", id="plain to TLS"),
        pytest.param(BROKER, ("security.protocol=SSL", "{trust}"), "TLS", id="TLS to plain"),
        pytest.param(TLS, ("security.protocol=SSL", "{trust}"), "certificate", id="no certificate"),
        pytest.param(TLS, ("security.protocol=SSL", "{trust}", "{stranger}"), "certificate", id="other certificate"),
        pytest.param(CONTROLLER, ("security.protocol=SSL", "{trust}"), "TLS", id="controller: TLS to plain"),
    ],
)  # fmt: skip
def test_cause_is_reported(
    secured: Secured, listener: str, lines: tuple[str, ...], cause: str
) -> None:
    values = {
        "{trust}": [secured.trust],
        "{own}": secured.own(),
        "{stranger}": secured.own("stranger"),
    }
    done = secured.run(listener, *(one for line in lines for one in values.get(line, [line])))

    assert (done.code, done.text) == (1, "")
    assert cause in done.errors[0]
    assert len(done.errors) == 2
    assert done.errors[1].startswith("hint: ")
