"""Hosts by Java's rules."""

import pytest

from kraftops.java.hosts import host_text, is_ipv4, is_ipv6


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", "localhost"),
        ("Host.Example", "Host.Example"),
        ("10.0.0.1", "10.0.0.1"),
        ("010.0.0.01", "10.0.0.1"),
        ("1", "0.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("1.2.3", "1.2.0.3"),
        ("256.1.1.1", "256.1.1.1"),
        ("255.1", "255.0.0.1"),
        ("1.16777215", "1.255.255.255"),
        ("1.16777216", "1.16777216"),
        ("4294967295", "255.255.255.255"),
        ("4294967296", "4294967296"),
        ("1.2.3.256", "1.2.3.256"),
        ("1.2.3.4.5", "1.2.3.4.5"),
        ("1..2", "1..2"),
        ("", ""),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:DB8::0a", "2001:db8:0:0:0:0:0:a"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1%eth0"),
        ("a:b", "a:b"),
    ],
)
def test_host_is_shown_as_by_java(host: str, expected: str) -> None:
    assert host_text(host) == expected


@pytest.mark.parametrize("host", ["0.0.0.0", "127.0.0.1", "255.255.255.255"])
def test_ipv4(host: str) -> None:
    assert is_ipv4(host)


@pytest.mark.parametrize(
    "host", ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.1.1.1", "1.2.3.x", "::"]
)
def test_no_ipv4(host: str) -> None:
    assert not is_ipv4(host)


@pytest.mark.parametrize(
    "host",
    [
        "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "::1.2.3.4", "fe80::1%eth0",
        "1::8", "ABCD::ef01", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "::-0",
    ],
)  # fmt: skip
def test_ipv6(host: str) -> None:
    assert is_ipv6(host)


@pytest.mark.parametrize(
    "host",
    [
        "", "host", "1.2.3.4", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", ":::", "1::2::3", ":1", "1:",
        "12345::", "g::", "::%", "::1%a%b", "::256.1.1.1", "1.2.3.4::", "::-1",
    ],
)  # fmt: skip
def test_no_ipv6(host: str) -> None:
    assert not is_ipv6(host)
