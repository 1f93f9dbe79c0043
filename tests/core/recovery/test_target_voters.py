"""Voters after a recovery."""

import pytest

from kraftops.errors import UsageError
from kraftops.recovery.target_voters import HostPort, parse_host_changes


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("a=b", {HostPort("a", None): HostPort("b", None)}),
        (
            "a:1=b:2,c=d:3",
            {HostPort("a", 1): HostPort("b", 2), HostPort("c", None): HostPort("d", 3)},
        ),
        ("[::1]:1=b", {HostPort("0:0:0:0:0:0:0:1", 1): HostPort("b", None)}),
        ("::1=b", {HostPort("0:0:0:0:0:0:0:1", None): HostPort("b", None)}),
        (" a=b , ", {HostPort("a", None): HostPort("b", None)}),
    ],
)
def test_host_changes_are_parsed(text: str, changes: dict[HostPort, HostPort]) -> None:
    assert parse_host_changes(text) == changes


@pytest.mark.parametrize("text", ["", "a", "=b", "a=", "a=b=c", "a:99999=b", "a=b,a=c", "a:x=b"])
def test_host_changes_of_another_form_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--listener-hosts"):
        parse_host_changes(text)


def test_address_is_written_as_it_is_read() -> None:
    (old, new) = next(iter(parse_host_changes("[::1]:1=b:2").items()))

    assert parse_host_changes(f"{old}={new}") == {old: new}
