"""Refusals have a known code and an exit code."""

import pytest

from kraftops.recovery.refusal import CODES, NotFound, RecoveryRefused


def test_missing_file_has_an_exit_code_of_its_own() -> None:
    assert RecoveryRefused("running", "it runs").exit_code == 3
    assert NotFound("not-there", "it is missing").exit_code == 4


def test_unknown_code_is_an_error_of_the_program() -> None:
    with pytest.raises(AssertionError):
        RecoveryRefused("unheard-of", "message")


def test_codes_are_sorted_for_the_manual() -> None:
    assert list(CODES) == sorted(CODES)
