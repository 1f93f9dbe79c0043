"""Random server configurations, valid and invalid, that both tools must read alike."""

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from kraftops.storage.config import keys
from kraftops.storage.config.keys import server_keys

Settings = dict[str, str]

BASE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.bootstrap.servers": "localhost:9093",
    "log.dirs": "d1",
}
CONTROLLER = BASE | {"process.roles": "controller", "listeners": "CONTROLLER://localhost:9093"}
BROKER = BASE | {"process.roles": "broker", "listeners": "PLAINTEXT://localhost:9092"}
SHAPES = (BASE, CONTROLLER, BROKER)

NUMBERS = (
    "0", "1", "2", "-1", "-2", "5", "9", "10", "100", "1000", "30000", "2147483647", "2147483648",
    "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "32767", "32768",
    "-32769", "+1", " 1 ", "1 ", "007", "1_000", "1e3", "0x10", "", " ", "many", "1.5", "-", "+",
    "٣", "१२", "\U0001d7d9", "1\x0b", "1\xa0", "99999999999999999999999",
)  # fmt: skip
DOUBLES = (
    "0", "1", "0.5", "-0.0", "1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "inf",
    "nan", ".5", "5.", ".", "1.5f", "1.5D", "1d", "0x1.8p1", "0x1p99999", "0x.8p0", "0x1", "1e",
    "0.1e+1", "1_0.5", "1e16", "12345678.9", "0.0001", "1.0000000000000002", "4.9E-324", "٣.5",
    "0.50000000001", "1.00001", "-0.1", "123456789012345680000", "1e7", "-0x1p-2f", "NaNf",
)  # fmt: skip
BOOLEANS = ("true", "TRUE", " True ", "false", "FALSE", "fal\u017fe", "yes", "1", "", "t", "true x")
TEXTS = (
    "", " ", "x", "DEFAULT", "PLAINTEXT", "plaintext", "Ssl", "gzip", "producer", "GZIP", "none",
    "required", "CreateTime", "createtime", "upgrade", "Upgrade", "rs256", "\u017fsl", "a,b", "\x01",
    "uncompressed", "LogAppendTime", "SASL_SSL", "a\nb", "é", "bidirectional\t",
)  # fmt: skip
LISTS = (
    "", " ", ",", "a", "a,b", "a, b ,c", "a,a", "a,,b", "a,", ",a", "compact", "delete,compact",
    "compact,Delete", "classic", "consumer", "classic,share", "Classic", "broker", "controller",
    "broker,broker", "uniform", "range,uniform", "simple", "simple,simple", "uniforn", "\x01,a",
    "a\x0bb", "a\x0b,b", "é,é", "*", "d1", "*,d1",
)  # fmt: skip
_POOLS = {
    "int": NUMBERS,
    "short": NUMBERS,
    "long": NUMBERS,
    "double": DOUBLES + NUMBERS,
    "boolean": BOOLEANS,
    "list": LISTS,
    "string": TEXTS,
    "password": TEXTS,
    "class": ("", " ", "nodots", "no.such.Class"),
}


def values(random: Random, key: str) -> str:
    """Return a value for a key, from its pool or near its limits."""
    found = server_keys()[key]
    low, dots, high = found.check.partition("..")
    if dots and random.random() < 0.4:
        limit = float(random.choice([limit for limit in (low, high) if limit]))
        return str(limit + random.choice((-1, -0.25, 0, 0.25, 1))).removesuffix(".0")
    return random.choice(_POOLS[found.type])


def one_key(random: Random) -> Settings:
    """Return a valid configuration with another value for one key."""
    key = random.choice(list(server_keys()))
    return random.choice(SHAPES) | {key: values(random, key)}


def some_keys(random: Random) -> Settings:
    """Return a valid configuration with several keys changed and others removed."""
    settings = dict(random.choice(SHAPES))
    for key in random.sample(list(server_keys()), random.randint(2, 5)):
        settings[key] = values(random, key)
    for key in list(settings):
        if random.random() < 0.01:
            del settings[key]
    return settings


_GROUP_RULES = Path(keys.__file__).with_name("group_rules.txt").read_text("utf-8")
_GROUP_KEYS = sorted({word for rule in _GROUP_RULES.splitlines() for word in rule.split()[::2]})


def groups(random: Random) -> Settings:
    """Return group limits, some of them contradictory."""
    keys = [key for key in _GROUP_KEYS if key in server_keys()]
    start = random.randrange(len(keys))
    family = [key for key in keys if key.split(".")[1] == keys[start].split(".")[1]]
    chosen = random.sample(family, random.randint(1, 4))
    settings = dict(BASE)
    for key in chosen:
        default = int(server_keys()[key].default or 0) if key != "group.share.assignors" else 1
        number = random.choice(
            (0, 1, 2, 5, 10, default // 2, default - 1, default + 1, default * 2)
        )
        settings[key] = "simple" if key == "group.share.assignors" else str(number)
    return settings


_PAIRS = {
    "log.roll.ms": NUMBERS,
    "log.roll.hours": NUMBERS,
    "log.roll.jitter.ms": NUMBERS,
    "log.roll.jitter.hours": NUMBERS,
    "log.retention.ms": NUMBERS,
    "log.retention.minutes": NUMBERS,
    "log.retention.hours": NUMBERS,
    "log.cleaner.dedupe.buffer.size": ("0", "-5", "1048576", "1048577", "2097153", "134217728"),
    "log.cleaner.threads": ("0", "1", "2", "127", "128", "129"),
    "replica.fetch.wait.max.ms": ("0", "-1", "500", "30000", "30001"),
    "replica.socket.timeout.ms": ("0", "-1", "500", "30000", "30001"),
    "replica.lag.time.max.ms": ("0", "-1", "500", "30000", "30001"),
    "queued.max.request.bytes": ("-1", "0", "1", "104857599", "104857600"),
    "socket.request.max.bytes": ("1", "100", "104857601"),
    "max.connections.per.ip": ("0", "1"),
    "max.connections.per.ip.overrides": (
        "", "a:1", "a:0,b:2", "a", "a:", ":1", "a:x", "a b:1", "h!:1,i?:2,j:3", "[::1]:5", "::1:5",
        "a:1,,b:2", ",", ",a:1", "a:1,", "a:٣", "1!:1,2!:2,3!:3,4!:4,5!:5,6!:6,7!:7", "a:1,b:x,c:y",
        "b59!:2,fff32!:2,bbb95!:2",
        "127.0.0.1:200,hostName:100,127.0.0.1:200", "a:99999999999", "a : 1 , b : 2",
    ),
    "connection.failed.authentication.delay.ms": ("0", "100", "600000", "600001"),
    "connections.max.idle.ms": ("-1", "0", "1", "100", "101"),
    "offsets.topic.compression.codec": ("-1", "0", "4", "5"),
    "share.coordinator.state.topic.compression.codec": ("-1", "0", "4", "5"),
    "group.coordinator.rebalance.protocols": ("classic", "consumer", "classic,share", "streams"),
    "group.consumer.assignors": ("uniform", "range", "range,range", "foo", "uniform,foo"),
    "group.share.assignors": ("simple", "simple,simple", "foo", ""),
    "cordoned.log.dirs": ("", "d1", "*", "*,d1", "d2", "d2,d1,d3", "d1,"),
    "log.dirs": ("d1", "d2,d1", "d1,d1", "/x , y", ""),
    "log.dir": ("d2", "d3,d4", ""),
    "metadata.log.dir": ("m", " d1 "),
    "broker.id": ("1", "2", "-1", "x", "01"),
    "node.id": ("1", "2", "-1", "x", "01"),
    "controller.quorum.auto.join.enable": ("true", "false"),
    "early.start.listeners": ("", "CONTROLLER", "PLAINTEXT,CONTROLLER", "controller", "X"),
    "unstable.feature.versions.enable": ("true", "false"),
}  # fmt: skip


def pairs(random: Random) -> Settings:
    """Return values for keys with rules between them."""
    settings = dict(random.choice(SHAPES))
    keys = list(_PAIRS)
    start = random.randrange(len(keys))
    near = keys[max(0, start - 3) : start + 4]
    for key in random.sample(near, random.randint(1, 4)):
        settings[key] = random.choice(_PAIRS[key])
    if random.random() < 0.1:
        del settings["node.id"]
    return settings


_NAMES = (
    "PLAINTEXT", "CONTROLLER", "SSL", "SASL_SSL", "SASL_PLAINTEXT", "EXTERNAL", "A", "B", "plain",
    "controller", "S\u017fl", "", " ", "x://y", "ß",
)  # fmt: skip
_HOSTS = (
    "localhost", "", "0.0.0.0", "127.0.0.1", "127.0.0.01", "1.2.3", "256.1.1.1", "[::1]", "::1",
    "[::]", "[fe80::1%eth0]", "[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8:9]", "[::1.2.3.4]", "[1::2::3]",
    "[:1]", "[1:]", "[12345::]", "[::-1]", "[::-0]", "[%]", "[::%]", "h_o-st.x", "h%40st", "[a", "a]",
    "hö", "[1:2:3:4:5:6:7::]", "[::2:3:4:5:6:7:8]", "[1:2:3:4:5:6:1.2.3.4]", "[1::1.2.3.4]", "[:::]",
    "host name",
)  # fmt: skip
_PORTS = (
    "9092", "9092", "9093", "9093", "9094", "0", "-1", "65535", "65536", "99999999999", "", "x",
    "٣", "09092", "-0",
)  # fmt: skip


def _listener(random: Random) -> str:
    usual = random.random() < 0.6
    name = random.choice(_NAMES[: 8 if usual else None])
    host = random.choice(_HOSTS[: 11 if usual else None])
    port = random.choice(_PORTS[: 6 if usual else None])
    return random.choice(("{}://{}:{}",) * 30 + ("{}:{}:{}", "{}//{}{}", "{}://{}:{} x")).format(
        name, host, port
    )


def _listeners(random: Random, most: int = 4) -> str:
    separator = random.choice((",", ",", ", "))
    return separator.join(_listener(random) for _ in range(random.randint(1, most)))


_MAPS = (
    "", "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,A:SSL,B:SASL_SSL,EXTERNAL:SASL_PLAINTEXT,SSL:SSL",
    "controller:plaintext,PLAINTEXT:PLAINTEXT,sasl_ssl:SASL_SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,a:ssl",
    "A:PLAINTEXT,a:SSL", "A:SSL,A:SSL", "A", "A:", ":SSL", "A:X", "A:B:SSL", "A:SSL,", "A:X,B:Y,C:Z",
    "CONTROLLER:PLAINTEXT", "a:X,B", "PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:SSL", "A :  SSL , B:ssl",
    "a:SSL,A:PLAINTEXT,b:SSL,B:PLAINTEXT,c:SSL,C:SSL", " :SSL", ",A:SSL",
)  # fmt: skip
_LISTENER_KEYS: Mapping[str, Callable[[Random], str]] = {
    "listeners": _listeners,
    "advertised.listeners": _listeners,
    "listener.security.protocol.map": lambda random: random.choice(_MAPS),
    "controller.listener.names": lambda random: ",".join(
        random.choice(_NAMES[:10]) for _ in range(random.choice((1, 1, 2, 3)))
    ),
    "inter.broker.listener.name": lambda random: random.choice(_NAMES),
    "security.inter.broker.protocol": lambda random: random.choice(_NAMES[:6]),
    "early.start.listeners": lambda random: random.choice(_NAMES),
    "sasl.enabled.mechanisms": lambda random: random.choice(("GSSAPI", "PLAIN", "PLAIN,GSSAPI")),
    "sasl.mechanism.inter.broker.protocol": lambda random: random.choice(("PLAIN", "GSSAPI", "")),
    "listener.name.a.sasl.enabled.mechanisms": lambda random: random.choice(("PLAIN", "", "a,,b")),
    "listener.name.sasl_ssl.sasl.enabled.mechanisms": lambda random: random.choice(("PLAIN", "")),
    "listener.name.sasl_ssl.ssl.client.auth": lambda random: random.choice(("none", "NONE")),
    "listener.name.sasl_ssl.plain.connections.max.reauth.ms": lambda random: random.choice("1x"),
    "listener.name.sasl_ssl.num.partitions": lambda random: random.choice("1x"),
}


def listeners(random: Random) -> Settings:
    """Return listeners, advertised listeners, protocols and SASL settings."""
    settings = dict(random.choice(SHAPES))
    for key in random.sample(list(_LISTENER_KEYS), random.randint(1, 5)):
        settings[key] = _LISTENER_KEYS[key](random)
    if random.random() < 0.3:
        settings["controller.quorum.voters"] = voter_list(random)
    return settings


def shared_ports(random: Random) -> Settings:
    """Return listeners that share ports."""
    protocols = ",".join(f"L{number}:PLAINTEXT" for number in range(8))
    ports = ("9092", "9093", "1", "17", "65537") if random.random() < 0.5 else ("9092",)
    text = ",".join(
        f"L{number}://{random.choice(_HOSTS[2:-1])}:{random.choice(ports)}"
        for number in range(random.randint(2, 5))
    )
    return BASE | {
        "listeners": text,
        "listener.security.protocol.map": protocols,
        "controller.listener.names": "L1",
        "inter.broker.listener.name": "L0",
    }


def many_names(random: Random) -> Settings:
    """Return more listeners than a small set of Scala holds: their order is that of hashes."""
    names = [f"N{random.randrange(1000)}" for _ in range(random.randint(3, 12))] + ["C"]
    names = list(dict.fromkeys(names))
    advertised = random.sample(names, random.randint(1, len(names)))
    return BASE | {
        "listeners": ",".join(f"{name}://:{number}" for number, name in enumerate(names, 1)),
        "advertised.listeners": ",".join(f"{name}://h:1" for name in [*advertised, "MORE"]),
        "listener.security.protocol.map": ",".join(f"{name}:SSL" for name in [*names, "MORE"]),
        "controller.listener.names": "C",
        "inter.broker.listener.name": random.choice(names),
    }


_IDS = ("1", "1", "1", "2", "3", "+1", "-1", "", "x", " 1", "2147483648", "٣", "16", "17", "4099")
_VOTER_PORTS = ("9093", "9093", "0", "65535", "65536", "-1", "", "x", "99999999999", "09")


def _voter(random: Random) -> str:
    usual = random.random() < 0.7
    voter_id = random.choice(_IDS[: 5 if usual else None])
    host = random.choice(_HOSTS[: 3 if usual else None])
    port = random.choice(_VOTER_PORTS[: 2 if usual else None])
    form = random.choice(
        ("{}@{}:{}",) * 20 + ("{}:{}:{}", "{}@x://{}:{}", "{}@{}:{}@", "{}@@{}:{}")
    )
    return form.format(voter_id, host, port)


def voter_list(random: Random) -> str:
    """Return a value for the static voters."""
    if random.random() < 0.2:
        ids = random.sample(range(1 << random.randint(4, 31)), random.randint(3, 12))
        return ",".join(f"{number}@h{number}:1" for number in ids)
    return random.choice((",", ", ")).join(_voter(random) for _ in range(random.randint(1, 4)))


def quorum(random: Random) -> Settings:
    """Return voters and bootstrap servers."""
    settings = dict(random.choice(SHAPES))
    if random.random() < 0.8:
        settings["controller.quorum.voters"] = voter_list(random)
    if random.random() < 0.4:
        servers = [_voter(random).partition("@")[2] for _ in range(random.randint(1, 3))]
        settings["controller.quorum.bootstrap.servers"] = ",".join(servers)
    if random.random() < 0.2:
        settings.pop("controller.quorum.bootstrap.servers", None)
    if random.random() < 0.3:
        host = random.choice(("", "0.0.0.0"))
        settings["listeners"] = settings["listeners"].replace("localhost", host)
    return settings


_WHOLE = {
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://[::1]:9093,SSL://0.0.0.0:9094",
    "advertised.listeners": "PLAINTEXT://host.example.com:9092, SSL://[fe80::1%eth0]:9094",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:SSL,SSL:SSL,A:SASL_SSL",
    "controller.quorum.voters": "1@localhost:9093,2@[::1]:9093,3@10.0.0.3:9093",
    "controller.quorum.bootstrap.servers": "localhost:9093,[::1]:9093",
    "max.connections.per.ip.overrides": "localhost:10,127.0.0.1:20",
    "process.roles": "broker,controller",
    "controller.listener.names": "CONTROLLER,SSL",
    "log.dirs": "/a,/b , /c",
    "log.retention.ms": "1000",
    "log.cleaner.min.cleanable.ratio": "0.25",
    "auto.create.topics.enable": "true",
    "log.cleanup.policy": "compact,delete",
}
_SIGNS = ":/@,.[]%-+ _=0129afXé٣\t\x01\u2028"


def mutated(random: Random) -> Settings:
    """Return valid values with a few characters changed."""
    settings = random.choice(SHAPES) | dict(random.sample(sorted(_WHOLE.items()), 2))
    for key in random.sample([key for key in settings if key in _WHOLE], 1):
        text = settings[key]
        for _ in range(random.choice((1, 1, 2, 3))):
            at = random.randrange(len(text) + 1)
            kept = text[at + random.choice((0, 1, 1)) :]
            text = text[:at] + random.choice((*_SIGNS, "", "")) + kept
        settings[key] = text
    return settings


ENVIRONMENT = {"KRAFTOPS_ID": "1", "KRAFTOPS_ROLE": "broker", "KRAFTOPS_EMPTY": "", "OTHER": "7"}
"""Environment variables of the JVM and of our tool."""

_CLASS = "org.apache.kafka.common.config.provider.{}ConfigProvider"


def make_secrets(directory: Path) -> None:
    """Write the files that `placeholders` refers to."""
    (directory / "in" / "sub").mkdir(parents=True)
    (directory / "out").mkdir()
    (directory / "in" / "a.properties").write_text("id=1\nrole = broker\\u002ccontroller\né=ß\n")
    (directory / "in" / "bad.properties").write_bytes(b"id=\xff\n")
    (directory / "in" / "escape.properties").write_bytes(b"id=\\u12\n")
    (directory / "in" / "id").write_text("1\n")
    (directory / "in" / "latin").write_bytes(b"\xe9")
    (directory / "out" / "a.properties").write_text("id=2\n")
    (directory / "in" / "link").symlink_to("../out/a.properties")


def placeholders(random: Random, directory: Path) -> Settings:
    """Return placeholders, and providers that resolve some of them."""
    names = ["env", "file", "dir"]
    settings = dict(random.choice(SHAPES))
    listed = random.sample(names, random.randint(1, 3))
    settings["config.providers"] = random.choice((",", ",", ",", ", ")).join(listed)
    kinds = {"env": "EnvVar", "file": "File", "dir": "Directory"}
    for name in names:
        if random.random() < 0.9:
            settings[f"config.providers.{name}.class"] = _CLASS.format(kinds[name])
    within = (
        f"{directory}/in", f"{directory}/in/sub/../", f"{directory}/none", "relative", "", ",",
        f"{directory}/out,{directory}/in/", f"{directory}/i", f"{directory}//in", "/",
    )  # fmt: skip
    for name in ("file", "dir"):
        if random.random() < 0.4:
            settings[f"config.providers.{name}.param.allowed.paths"] = random.choice(within)
    if random.random() < 0.4:
        patterns = ("KRAFTOPS.*", "KRAFTOPS", ".*", "OTHER|KRAFTOPS_ID", "(?i)other", "", "[A-Z_]+")
        settings["config.providers.env.param.allowlist.pattern"] = random.choice(patterns)
    paths = (
        f"{directory}/in/a.properties", f"{directory}/out/a.properties", f"{directory}/in/none",
        f"{directory}/in", f"{directory}/in/bad.properties", f"{directory}/in/../out/a.properties",
        f"{directory}/in/escape.properties", f"{directory}/in/link", "", f"{directory}/in/sub",
        f"{directory}//in//a.properties", f"{directory}/in/", "a.properties",
    )  # fmt: skip
    for key in random.sample(("node.id", "broker.rack", "process.roles", "x", "log.dirs"), 2):
        variable = random.choice(
            ("id", "role", "none", "KRAFTOPS_ID", "KRAFTOPS_EMPTY", "OTHER", "")
        )
        usual = {"env": "", "file": f"{random.choice(paths)}:", "dir": f"{random.choice(paths)}:"}
        name = random.choice((*names, *names, "none"))
        path = usual.get(name, "") if random.random() < 0.9 else f"{random.choice(paths)}:"
        form = random.choice(
            ("{}",) * 10 + ("a{}b", "{}{}", "${}", "{}}}", "${{{}", "{} ${{env:OTHER}}")
        )
        holder = f"${{{name}:{path}{variable}}}"
        settings[key] = form.format(holder, holder)
    return settings


def properties_file(random: Random) -> bytes:
    """Return a properties file with odd syntax."""
    parts = (
        b"a", b"b", b"key", b"=", b":", b" ", b"\t", b"\f", b"\\", b"\n", b"\r", b"\r\n", b"#", b"!",
        b"\\\n", b"\\\r\n  ", b"\\u0041", b"\\u00e9", b"\\uD83D\\uDE00", b"\\uD800", b"\\n", b"\\t",
        b"\\ ", b"\\=", b"\\:", b"\xe9", b"\x00", b"\x0b", b"\x85", b"\xa0", b"value", b"\\r", b"\\f",
        b"\\x", b"\\u", b"\\u12", b"\\U0041", b"\\\\", b"\x1c",
    )  # fmt: skip
    weights = [1 if part.startswith(b"\\u") and len(part) < 6 else 12 for part in parts]
    return b"".join(random.choices(parts, weights, k=random.randint(0, 24)))
