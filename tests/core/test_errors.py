"""The tree of errors."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftops import errors
from kraftops.errors import (
    CODES,
    AnswerError,
    BatchLimitError,
    DecodeError,
    KraftopsError,
    SourceError,
    Underflow,
    UsageError,
    WireError,
)


def tree(base: type[KraftopsError]) -> Iterator[type[KraftopsError]]:
    for error in base.__subclasses__():
        if error.__module__ == errors.__name__:
            yield error
            yield from tree(error)


@pytest.mark.parametrize("error", [KraftopsError, *tree(KraftopsError)])
def test_error_has_a_message_and_a_code(error: type[KraftopsError]) -> None:
    """And the module's docstring shows it."""
    made = error("what happened", hint="what to try")

    assert (str(made), made.message, made.hint) == ("what happened", "what happened", "what to try")
    assert made.exit_code == CODES[made.code].exit_code
    assert error("no hint").hint is None
    assert error.__name__ in (errors.__doc__ or "")


def test_damage_can_be_caught_as_one() -> None:
    assert issubclass(Underflow, DecodeError)
    assert issubclass(BatchLimitError, DecodeError)
    assert not issubclass(UsageError, DecodeError)


def test_code_of_one_error_gives_its_exit_code() -> None:
    assert KraftopsError("x").exit_code == 1
    assert KraftopsError("x", code="not-found").exit_code == 4
    assert WireError("x").exit_code == 5


@pytest.mark.parametrize(
    ("error_code", "code", "exit_code"),
    [
        (102, "broker-not-registered", 4),
        (29, "not-permitted", 1),
        (31, "not-permitted", 1),
        (41, "no-leader", 5),
        (104, "other-cluster", 3),
        (35, "server-error", 1),
    ],
)
def test_error_code_of_kafka_has_a_code(error_code: int, code: str, exit_code: int) -> None:
    made = AnswerError("x", error_code=error_code)

    assert (made.code, made.exit_code) == (code, exit_code)
    assert made.known == {"kafkaErrorCode": error_code}


def test_error_of_a_server_knows_its_address() -> None:
    made = WireError.at("host:1", "it is late", "wait", code="not-in-time")

    assert (made.message, made.hint) == ("host:1: it is late", "wait")
    assert (made.known, made.exit_code) == ({"address": "host:1"}, 5)


def test_file_that_is_missing_is_not_found(tmp_path: Path) -> None:
    codes = []
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(OSError, match="directory") as failed:
            path.open()
        codes.append(SourceError.of(str(path), failed.value).code)

    assert codes == ["not-found", "unreadable"]


def test_codes_are_words_with_meanings() -> None:
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", code) for code in CODES)
    assert all(each.meaning for each in CODES.values())
    assert {each.exit_code for each in CODES.values()} == {1, 3, 4, 5, 6, 130}
