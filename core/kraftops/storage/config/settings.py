"""Values of all keys of a server configuration, defaults included."""

from collections.abc import Mapping
from typing import NamedTuple

from kraftops.java.hash_order import map_order
from kraftops.java.text import string_hash
from kraftops.storage.config.keys import ServerKey, server_keys
from kraftops.storage.config.listeners import parse_server, parse_static_voters
from kraftops.storage.config.values import ConfigRefused, default_value, parse_value

_MISSING = {
    "process.roles": "Kafka 4 runs without ZooKeeper: a node is a broker, a controller or both",
    "node.id": "every node of the cluster has a number of its own",
    "controller.listener.names": "brokers too name the listener of the controllers",
}


METADATA_DIR = "metadata.log.dir"


class Settings(NamedTuple):
    """Value of every key, and text of each key in the configuration."""

    values: Mapping[str, object]
    originals: Mapping[str, str]

    def number(self, key: str) -> int:
        value = self.values[key]
        assert isinstance(value, int)
        return value

    def text(self, key: str) -> str | None:
        value = self.values[key]
        assert value is None or isinstance(value, str)
        return value

    def items(self, key: str) -> tuple[str, ...]:
        """Return the value of a key of lists, empty where it is null."""
        value = self.values[key]
        assert value is None or isinstance(value, tuple)
        return value or ()

    @property
    def node_id(self) -> int:
        return self.number("node.id")

    @property
    def roles(self) -> frozenset[str]:
        """The roles of this node: `broker`, `controller` or both."""
        return frozenset(self.items("process.roles"))

    @property
    def log_dirs(self) -> tuple[str, ...]:
        """The directories of `log.dirs`, else of `log.dir`."""
        return self.items("log.dir" if self.values["log.dirs"] is None else "log.dirs")

    @property
    def metadata_dir(self) -> str:
        """The directory of the metadata log."""
        return self.text(METADATA_DIR) or self.log_dirs[0]

    @property
    def controller_names(self) -> tuple[str, ...]:
        """The names of the controller listeners, as written."""
        return self.items("controller.listener.names")

    def with_prefix(self, prefix: str) -> dict[str, object]:
        """Return the values of the keys in the configuration with *prefix*, by the rest of the key.

        Raises:
            ConfigRefused: a value is not allowed.
        """
        values = {}
        keys = server_keys()
        for original in map_order(self.originals, string_hash):
            name = original.removeprefix(prefix)
            if name in (original, ""):
                continue
            # A mechanism may stand before the key.
            key = keys.get(name) or keys.get(name[name.find(".") + 1 :])
            if key:
                try:
                    values[name] = _value(key, self.originals[original])
                except ConfigRefused as error:
                    raise ConfigRefused(error.message, original, hint=error.hint) from None
        return values


NEEDED = frozenset(
    {
        "advertised.listeners",
        "broker.id",
        "controller.listener.names",
        "controller.quorum.bootstrap.servers",
        "controller.quorum.voters",
        "inter.broker.listener.name",
        "listener.security.protocol.map",
        "listeners",
        "log.dir",
        "log.dirs",
        METADATA_DIR,
        "node.id",
        "process.roles",
    }
)
"""Keys that say who a node is, where it listens and where its directories are."""


def read_settings(
    originals: Mapping[str, str],
    unresolved: Mapping[str, str] | None = None,
    changed: Mapping[str, ServerKey | None] | None = None,
) -> Settings:
    """Parse the values in the configuration; return them with the defaults of the other keys.

    Args:
        originals: the texts by key.
        unresolved: keys whose values only a foreign config provider has, with its class: they
            have their defaults, unless they are needed.
        changed: the keys that another release defines otherwise, None where it ignores them.

    Raises:
        ConfigRefused: a value is not allowed, or missing.
    """
    values = {}
    unresolved, changed = unresolved or {}, changed or {}
    for name in sorted(NEEDED & unresolved.keys()):
        raise ConfigRefused(
            f"only the config provider {unresolved[name]} has the value of {name}",
            name,
            hint=f"give it with --override {name}=VALUE",
        )
    for name, key in server_keys().items():
        key_here = changed.get(name, key)
        text = originals.get(name)
        if text is not None and key_here and name not in unresolved:
            values[name] = _value(key_here, text)
        elif key.required:
            raise ConfigRefused(
                f'Missing required configuration "{name}" which has no default value.',
                hint=_MISSING[name],
            )
        else:
            values[name] = default_value(key)
    for name in changed.keys() & originals.keys() - values.keys() - unresolved.keys():
        if key_here := changed[name]:
            parse_value(key_here, originals[name])
    return Settings(values, originals)


def _value(key: ServerKey, text: str) -> object:
    value = parse_value(key, text)
    if isinstance(value, tuple):
        if key.check == "voters":
            parse_static_voters(value)
        elif key.check == "servers":
            for server in value:
                parse_server(server)
    return value
