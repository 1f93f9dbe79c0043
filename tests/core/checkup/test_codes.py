"""The pages of codes: each finding and each error has one."""

import pytest

from kraftops.checkup.codes import ERROR, FINDING, INCIDENT, OBSTACLE, OUTCOME, pages, pages_of
from kraftops.errors import CODES, UsageError
from kraftops.findings.catalogue import catalogue
from kraftops.outcomes import Outcome, RepairOutcome
from kraftops.reassign import obstacles
from kraftops.timeline.rules import RULES


def test_every_code_has_a_page() -> None:
    codes = {(page.code, page.kind) for page in pages()}

    assert codes >= {(code, FINDING) for code in catalogue()}
    assert codes >= {(code, ERROR) for code in CODES}
    assert codes >= {(code, OBSTACLE) for code in obstacles.CODES}
    assert codes >= {(rule.cause, INCIDENT) for rule in RULES}
    assert codes >= {(outcome, OUTCOME) for outcome in (*Outcome, *RepairOutcome)}
    assert len(codes) == len(pages())


def test_a_code_may_be_pasted_with_its_brackets() -> None:
    assert pages_of("[Missing-End]") == pages_of("missing-end")
    assert pages_of("not-there") == pages_of("not-found")


def test_one_word_can_be_a_finding_and_an_error() -> None:
    assert {page.kind for page in pages_of("other-cluster")} == {"finding", "error"}


def test_a_code_that_does_not_exist_has_near_ones() -> None:
    with pytest.raises(UsageError, match="does not exist") as error:
        pages_of("mising-end")

    assert error.value.exit_code == 4
    assert "missing-end" in str(error.value.hint)
