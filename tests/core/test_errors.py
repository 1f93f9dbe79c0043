"""The tree of errors."""

from collections.abc import Iterator

import pytest

from kraftops import errors
from kraftops.errors import DecodeError, InflationError, KraftopsError, Underflow, UsageError


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
    assert made.exit_code == 1
    assert error("no hint").hint is None
    assert error.__name__ in (errors.__doc__ or "")


def test_damage_can_be_caught_as_one() -> None:
    assert issubclass(Underflow, DecodeError)
    assert issubclass(InflationError, DecodeError)
    assert not issubclass(UsageError, DecodeError)
