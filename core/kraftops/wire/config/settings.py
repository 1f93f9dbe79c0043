"""Settings of a connection to a cluster's servers: SASL login, TLS stores, timeouts."""

from dataclasses import dataclass, field

from kraftops.memory import USUAL, Budget
from kraftops.wire.config.jaas import Login

TIMEOUT = 15.0  # longer than the election of a leader, shorter than Kafka's minute
CONNECT_TIMEOUT = 5.0  # for each address, to connect, to shake hands and to log in


@dataclass(frozen=True, slots=True)
class Store:
    """Key store or trust store: a file, or PEM text in the configuration; and its passwords.

    *key* is the configuration key that names it, for errors.
    """

    key: str
    location: str = ""
    password: str | None = field(default=None, repr=False)
    certificates: str = ""
    private_key: str = field(default="", repr=False)
    key_password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tls:
    """Trust store (None for the system's), own key store, TLS versions and cipher suites."""

    trust: Store | None = None
    own: Store | None = None
    checks_host: bool = True
    versions: tuple[str, ...] = ()
    ciphers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sasl:
    """SASL mechanism and login; its `repr` shows no secret.

    *protocol* is the security protocol around it; *token_tls* is for the token endpoint, and
    *source* the file that errors name.
    """

    mechanism: str
    login: Login = field(repr=False)
    protocol: str = ""
    source: str = ""
    token_tls: Tls | None = None
    service_name: str = ""
    token_url: str = ""
    client_id: str = field(default="", repr=False)
    client_secret: str = field(default="", repr=False)
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a connection; times in seconds, *source* is the file that errors name.

    What is read of a metadata log has the *budget*.
    """

    protocol: str = "PLAINTEXT"
    sasl: Sasl | None = None
    tls: Tls | None = None
    timeout: float = TIMEOUT
    connect_timeout: float = CONNECT_TIMEOUT
    client_id: str = "kraftops"
    software_version: str = "unknown"
    source: str = ""
    budget: Budget = USUAL
