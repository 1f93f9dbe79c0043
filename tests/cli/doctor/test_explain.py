"""`kraftops explain`: the list, and a page."""

import json

import pytest

from kraftops.findings.catalogue import catalogue
from tests.helpers.tools.console import KRAFTOPS, run_here


def test_list_has_every_code_with_a_title() -> None:
    answer = json.loads(run_here("explain", "--format", "json", program=KRAFTOPS).text)

    titles = {row["code"]: row["title"] for row in answer["codes"]}
    assert titles.keys() >= catalogue().keys()
    assert all(titles.values())


def test_page_has_what_to_do_and_how_to_be_sure() -> None:
    done = run_here("explain", "missing-end", program=KRAFTOPS)
    row = catalogue()["missing-end"]

    assert done.code == 0
    for text in (row.title, row.meaning, row.kafka, row.action, row.proof, "loss"):
        assert text in done.text


def test_several_codes_have_a_page_each() -> None:
    done = run_here("explain", "missing-end", "no-answer", "--format", "json", program=KRAFTOPS)

    assert [page["code"] for page in json.loads(done.text)["codes"]] == ["missing-end", "no-answer"]


def test_an_error_says_its_exit_code() -> None:
    done = run_here("explain", "majority-at-risk", program=KRAFTOPS)

    assert "exit code 3" in done.text


@pytest.mark.parametrize("code", ["directory-full", "target-down", "no-bytes", "throttle-too-low"])
def test_what_an_operation_waits_for_has_a_page(code: str) -> None:
    done = run_here("explain", code, program=KRAFTOPS)

    assert (done.code, f"{code} (obstacle)" in done.text) == (0, True)
    assert "what to do: " in done.text


def test_outcome_of_a_repair_has_a_page() -> None:
    done = run_here("explain", "no-broker", program=KRAFTOPS)

    assert (done.code, "no-broker (outcome)" in done.text) == (0, True)
    assert "what to do: Add a broker" in done.text


def test_unknown_code_is_not_found() -> None:
    done = run_here("explain", "nonsense-code", "--format", "json", program=KRAFTOPS)

    assert (done.code, json.loads(done.text)["error"]) == (4, "not-found")
