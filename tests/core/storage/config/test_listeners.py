"""Listeners, their protocols, voters and bootstrap servers."""

import pytest

from kraftops.storage.config.listeners import (
    Listener,
    parse_listeners,
    parse_map,
    parse_server,
    parse_static_voters,
    security_protocols,
)
from kraftops.storage.config.values import ConfigRefused

PROTOCOLS = dict.fromkeys(("A", "B", "C", "PLAINTEXT"), "PLAINTEXT")


def listeners(*entries: str, distinct_ports: bool = True) -> tuple[Listener, ...]:
    return parse_listeners("listeners", entries, PROTOCOLS, distinct_ports=distinct_ports)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        pytest.param("A://host:9092", Listener("A", "host", 9092, "PLAINTEXT"), id="usual"),
        pytest.param("a://host:1", Listener("A", "host", 1, "PLAINTEXT"), id="in capitals"),
        pytest.param("A://:9092", Listener("A", None, 9092, "PLAINTEXT"), id="all interfaces"),
        pytest.param("A://[::1]:9", Listener("A", "::1", 9, "PLAINTEXT"), id="IPv6"),
        pytest.param("A://::1:9", Listener("A", "::1", 9, "PLAINTEXT"), id="IPv6 without brackets"),
        pytest.param(
            "A://[fe80::1%eth0]:9", Listener("A", "fe80::1%eth0", 9, "PLAINTEXT"), id="zone"
        ),
        pytest.param("A://[host:9", Listener("A", "host", 9, "PLAINTEXT"), id="half a bracket"),
        pytest.param("A://h:0", Listener("A", "h", 0, "PLAINTEXT"), id="any port"),
        pytest.param("A://h:-1", Listener("A", "h", -1, "PLAINTEXT"), id="negative port"),
        pytest.param("A://h:70000", Listener("A", "h", 70000, "PLAINTEXT"), id="no port"),
    ],
)
def test_listener_is_name_host_and_port(entry: str, expected: Listener) -> None:
    assert listeners(entry) == (expected,)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("host:9092", "Unable to parse host:9092 to a broker endpoint"),
        ("A://host", "Unable to parse A://host to a broker endpoint"),
        ("A://ho st:1", "Unable to parse A://ho st:1 to a broker endpoint"),
        ("A://hö:1", "Unable to parse A://hö:1 to a broker endpoint"),
        ("A://h:٣", "Unable to parse A://h:٣ to a broker endpoint"),
        ("://h:1", "The provided listener name is null or empty string"),
        ("X://h:1", "No security protocol defined for listener X"),
        ("A://h:99999999999", 'For input string: "99999999999"'),
    ],
)
def test_malformed_listener_is_refused_with_kafkas_message(entry: str, message: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        listeners(entry)

    assert refused.value.message == f"Error creating broker listeners from '[{entry}]': {message}"
    assert refused.value.keys[0] == "listeners"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["A://x:1", "a://y:2"], "Each listener must have a different name"),
        (["A://x:1", "B://y:1"], "Each listener must have a different port, "),
        (["A://:1", "B://:1"], "Each listener must have a different port, "),
        (["A://1.1.1.1:1", "B://1.1.1.2:1"], "one needs to be IPv4 and the other IPv6"),
        (["A://x:1", "B://1.1.1.1:1", "C://[::]:1"], "one needs to be IPv4 and the other IPv6"),
        (["A://x:1", "B://1.1.1.1:1"], "unless exactly one listener has an IPv4 address"),
        (["A://[::1]:1", "B://1.1.1.1:1", "C://[::]:1"], "unless exactly one listener has an IPv4"),
    ],
)
def test_listeners_that_clash_are_refused(entries: list[str], message: str) -> None:
    with pytest.raises(ConfigRefused, match=message):
        listeners(*entries)


def test_an_ipv4_and_an_ipv6_address_may_share_a_port() -> None:
    found = listeners("A://1.1.1.1:9092", "B://[::1]:9092")

    assert [listener.port for listener in found] == [9092, 9092]


@pytest.mark.parametrize(
    ("entries", "distinct_ports"),
    [
        pytest.param(["A://x:0", "B://y:0"], True, id="any port"),
        pytest.param(["A://x:1", "B://y:1"], False, id="advertised"),
    ],
)
def test_ports_may_be_the_same(entries: list[str], distinct_ports: bool) -> None:
    assert len(listeners(*entries, distinct_ports=distinct_ports)) == 2


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", {}),
        (",", {}),
        ("A:1", {"A": "1"}),
        ("A : 1 ,\tB: 2,", {"A": "1", "B": "2"}),
        ("[::1]:5", {"[::1]": "5"}),
        ("A:", {"A": ""}),
        (":1", {"": "1"}),
    ],
)
def test_map_is_split_at_the_last_colon(text: str, pairs: dict[str, str]) -> None:
    assert parse_map("key", text) == pairs


@pytest.mark.parametrize(("text", "length"), [("A", 1), ("A:1,,B:2", 0), ("A:1,😀", 2)])
def test_map_item_without_colon_is_refused_as_java_does(text: str, length: int) -> None:
    with pytest.raises(ConfigRefused) as refused:
        parse_map("some.key", text)

    assert refused.value.message == (
        f"Error parsing configuration property 'some.key': begin 0, end -1, length {length}"
    )


def protocols(
    text: str, *, given: bool = True, own: tuple[str, ...] = (), controllers: tuple[str, ...] = ()
) -> dict[str, str]:
    return security_protocols(text, given=given, listeners=own, controllers=controllers)


def test_protocols_are_read_in_capitals() -> None:
    assert protocols("a:ssl,B:Sasl_Plaintext") == {"A": "SSL", "B": "SASL_PLAINTEXT"}


def test_controllers_are_plaintext_where_no_map_is_given() -> None:
    assert protocols("A:SSL", given=False, controllers=("C", "ctl")) == {
        "A": "SSL",
        "C": "PLAINTEXT",
        "ctl": "PLAINTEXT",
    }


@pytest.mark.parametrize(
    ("own", "controllers"),
    [
        pytest.param(("ssl://h:1",), ("C",), id="a secure listener"),
        pytest.param(("A://h:1",), ("C", "SASL_SSL"), id="a secure controller"),
    ],
)
def test_controllers_need_a_protocol_where_names_are_secure(
    own: tuple[str, ...], controllers: tuple[str, ...]
) -> None:
    assert protocols("A:SSL", given=False, own=own, controllers=controllers) == {"A": "SSL"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A:TLS", "Invalid security protocol `TLS` defined in listener.security.protocol.map"),
        (" :SSL", "The provided listener name is null or empty string"),
        (
            "a:SSL,A:PLAINTEXT",
            "Duplicate key ListenerName(A) (attempted merging values SSL and PLAINTEXT)",
        ),
    ],
)
def test_malformed_protocols_are_refused_with_kafkas_message(text: str, message: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        protocols(text)

    assert refused.value.message == message


def test_listener_without_colon_is_refused_where_no_map_is_given() -> None:
    with pytest.raises(ConfigRefused, match="Unable to parse a listener name from A"):
        protocols("", given=False, own=("A",))


@pytest.mark.parametrize(
    ("entries", "voters"),
    [
        ([], {}),
        (["1@h:9093"], {1: ("h", 9093)}),
        (["2@[::1]:1", "1@h:2"], {1: ("h", 2), 2: ("::1", 1)}),
        (["1@h:1", "1@i:2"], {1: ("i", 2)}),
        (["1@x://h:1"], {1: ("h", 1)}),
        (["1@h:1@"], {1: ("h", 1)}),
        (["-1@:0"], {-1: ("", 0)}),
    ],
)
def test_voters_are_hosts_and_ports_by_id(
    entries: list[str], voters: dict[int, tuple[str, int]]
) -> None:
    assert parse_static_voters(entries) == voters


_FORM = "Each entry should be in the form `{id}@{host}:{port}`."


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", f"Invalid configuration value for controller.quorum.voters. {_FORM}"),
        ("h:1", f"Invalid configuration value for controller.quorum.voters. {_FORM}"),
        ("1@@h:1", f"Invalid configuration value for controller.quorum.voters. {_FORM}"),
        ("x@h:1", "Failed to parse voter ID as an integer from x"),
        (
            "1@h",
            (
                "Failed to parse host name from entry 1@h for the configuration "
                f"controller.quorum.voters. {_FORM}"
            ),
        ),
        ("1@h:65536", "port out of range:65536"),
        ("1@h:99999999999", 'For input string: "99999999999"'),
    ],
)
def test_malformed_voter_is_refused_with_kafkas_message(entry: str, message: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        parse_static_voters([entry])

    assert refused.value.message == message
    assert refused.value.keys == ("controller.quorum.voters",)


def test_any_address_is_no_routable_voter() -> None:
    assert parse_static_voters(["1@0.0.0.0:1"]) == {1: ("0.0.0.0", 1)}
    with pytest.raises(ConfigRefused, match=r"Host string \(0\.0\.0\.0\) is not routeable"):
        parse_static_voters(["1@0.0.0.0:1"], routable=True)


def test_bootstrap_server_is_host_and_port() -> None:
    assert parse_server("[::1]:9093") == ("::1", 9093)


@pytest.mark.parametrize("entry", ["", "h", "h:", "h:-1", "h:1:x", "h i:1"])
def test_malformed_bootstrap_server_is_refused_with_kafkas_message(entry: str) -> None:
    with pytest.raises(ConfigRefused) as refused:
        parse_server(entry)

    assert refused.value.message == (
        f"Failed to parse host name from {entry} for the configuration "
        'controller.quorum.bootstrap.servers. Each entry should be in the form "{host}:{port}"'
    )
