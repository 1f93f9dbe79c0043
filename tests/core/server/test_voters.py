"""The voters of a dynamic quorum, as `--initial-controllers` names them."""

import pytest

from kraftops.errors import UsageError
from kraftops.server.voters import Voter, parse_initial_controllers
from kraftops.uuids import from_text

A, B = "JEXY6aqzQY-32P5TStzaFg", "MvDxzVmcRsaTz33bUuRU6A"


def refusal(text: str) -> UsageError:
    with pytest.raises(UsageError) as refused:
        parse_initial_controllers(text)
    return refused.value


@pytest.mark.parametrize(
    ("text", "voter"),
    [
        pytest.param(f"1@a:9093:{A}", Voter(1, from_text(A), "a", 9093), id="plain"),
        pytest.param(f"  1@a:9093:{A} ,", Voter(1, from_text(A), "a", 9093), id="blanks, comma"),
        pytest.param(f"+01@a:+9:{A}==", Voter(1, from_text(A), "a", 9), id="numbers, padding"),
        pytest.param(f"0@a:0:{A}", Voter(0, from_text(A), "a", 0), id="zeros"),
        pytest.param(
            f"2147483647@a.b-c_d:65535:{A}",
            Voter(2147483647, from_text(A), "a.b-c_d", 65535),
            id="limits",
        ),
        pytest.param(f"1@[::1]:9:{A}", Voter(1, from_text(A), "0:0:0:0:0:0:0:1", 9), id="IPv6"),
        pytest.param(f"1@[host]:9:{A}", Voter(1, from_text(A), "host", 9), id="name in brackets"),
        pytest.param(f"1@127.1:9:{A}", Voter(1, from_text(A), "127.0.0.1", 9), id="short IPv4"),
    ],
)
def test_voter_is_read(text: str, voter: Voter) -> None:
    assert parse_initial_controllers(text) == (voter,)


def test_voters_are_in_the_order_of_their_ids() -> None:
    found = parse_initial_controllers(f"10@b:2:{B},,9@a:1:{A},")

    assert [voter.node_id for voter in found] == [9, 10]


def test_text_of_a_voter_is_read_back() -> None:
    for text in (f"1@a:9093:{A}", f"1@[0:0:0:0:0:0:0:1]:9:{A}"):
        (voter,) = parse_initial_controllers(text)

        assert str(voter) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1", "No @ found in dynamic voter string."),
        (f"@a:9:{A}", "Invalid @ at beginning of dynamic voter string."),
        (f"x@a:9:{A}", "Failed to parse node id in dynamic voter string."),
        (f"2147483648@a:9:{A}", "Failed to parse node id in dynamic voter string."),
        (f"-1@a:9:{A}", "Invalid negative node id -1 in dynamic voter string."),
        ("1@", "No hostname found after node id."),
        (f"1@[::1:9:{A}", "Hostname began with left bracket, but no right bracket was found."),
        (f"1@[::1]9:{A}", "Port section must start with a colon."),
        ("1@a", "No colon following hostname could be found."),
        ("1@a:9", "No colon following port could be found."),
        (f"1@a:x:{A}", "Failed to parse port in dynamic voter string."),
        (f"1@a:-1:{A}", "Invalid port -1 in dynamic voter string."),
        (f"1@a:65536:{A}", "Invalid port 65536 in dynamic voter string."),
        ("1@a:9:short", "Failed to parse directory ID in dynamic voter string."),
        ("1@a:9:", "Failed to parse directory ID in dynamic voter string."),
        (f"1@a:9:{A},1@b:9:{B}", "Node id 1 was specified more than once."),
        ("", "No voters given."),
        (" ", "No voters given."),
        (",,", "No voters given."),
    ],
)
def test_malformed_voters_are_refused_as_by_kafka(text: str, message: str) -> None:
    assert refusal(text).message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(f"1@:9:{A}", "voter 1 has no host", id="no host"),
        pytest.param(f"1@[]:9:{A}", "voter 1 has no host", id="no host in brackets"),
        *(
            pytest.param(
                f"1@a:9:AAAAAAAAAAAAAAAAAAAA{end}",
                f"voter 1 has the reserved directory id AAAAAAAAAAAAAAAAAAAA{end}",
                id=f"reserved {end}",
            )
            for end in ("AA", "AQ", "Ag", "Yw")
        ),
        pytest.param(
            f"1@a:9:{A},2@b:9:{A}",
            f"voters 1 and 2 have one directory id, {A}",
            id="one directory for two",
        ),
        pytest.param(
            f"1@a:9:{A},2@b:9:{A[:-1]}h",
            f"voters 1 and 2 have one directory id, {A}",
            id="one directory in two spellings",
        ),
    ],
)
def test_voters_without_a_possible_quorum_are_refused(text: str, message: str) -> None:
    """Kafka's tool takes it."""
    error = refusal(text)

    assert error.message == message
    assert error.hint


def test_id_after_the_reserved_ones_is_free() -> None:
    assert parse_initial_controllers("1@a:9:AAAAAAAAAAAAAAAAAAAAZA")
