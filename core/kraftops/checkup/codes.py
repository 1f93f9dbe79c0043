"""All codes of findings and errors, with what each means and what to do."""

import re
from dataclasses import dataclass

from kraftops.answers.fields import Answer, number, parts, text, texts
from kraftops.display.columns import Column, folded
from kraftops.errors import CODES, UsageError
from kraftops.fileio.packaged import packaged_parts
from kraftops.findings.catalogue import catalogue
from kraftops.findings.finding import Severity
from kraftops.timeline.rules import RULES

FINDING, ERROR, OBSTACLE, INCIDENT = "finding", "error", "obstacle", "incident"
OUTCOME = "outcome"

_FORMER = {"not-there": "not-found"}
"""Present names of codes by former ones, which older answers have."""


@dataclass(frozen=True, slots=True)
class CodePage:
    """The page of a code; one word can be the code of a finding, of an error and of others.

    Findings have all texts, errors their exit code.
    """

    code: str
    kind: str
    title: str
    severity: Severity | None = None
    exit_code: int | None = None
    tools: tuple[str, ...] = ()
    meaning: str | None = None
    kafka: str | None = None
    action: str | None = None
    proof: str | None = None


_OF_FINDINGS = ("code", "title", "severity", "tools", "meaning", "kafka", "action", "proof")


def pages() -> list[CodePage]:
    """Return the pages of all codes: findings in the order of the catalogue, then the others."""
    findings = [
        CodePage(kind=FINDING, **{name: getattr(row, name) for name in _OF_FINDINGS})
        for row in catalogue().values()
    ]
    errors = [
        CodePage(name, ERROR, code.meaning, exit_code=code.exit_code)
        for name, code in CODES.items()
    ]
    incidents = [
        CodePage(rule.cause, INCIDENT, rule.words, tools=("incidents",), kafka=f"{rule.reason}.")
        for rule in RULES
    ]
    _, *others = packaged_parts(__file__, "codes.txt", "# ").items()
    of_tools = [_of_tool(heading, text) for heading, text in others]
    obstacles, outcomes = (
        [page for page in of_tools if page.kind == kind] for kind in (OBSTACLE, OUTCOME)
    )
    return [*findings, *errors, *obstacles, *incidents, *outcomes]


def _of_tool(heading: str, text: str) -> CodePage:
    """Return the page of an obstacle or outcome: kind, tool and code; title, and what to do."""
    kind, tool, code = heading.split()
    title, _, action = text.strip().partition("\n")
    return CodePage(code, kind, title, tools=(tool,), action=" ".join(action.split()) or None)


def pages_of(code: str) -> list[CodePage]:
    """Return the pages of a code.

    Raises:
        UsageError: nothing has it.
    """
    code = re.sub(r"[\s_]+", "-", code.strip("[] ").lower())
    chosen = [page for page in pages() if page.code == _FORMER.get(code, code)]
    if not chosen:
        from difflib import get_close_matches

        near = get_close_matches(code, {page.code for page in pages()}, 3, 0.5)
        hint = f"near: {', '.join(near)}" if near else "without a code, explain lists all"
        raise UsageError(f"the code {code!r} does not exist", hint, code="not-found")
    return chosen


PAGE = (
    text("code", "the code", column=Column("CODE", style="name")),
    text(
        "kind",
        "what has it: a finding, an error, an obstacle of an operation, an incident, or an outcome",
        values=(FINDING, ERROR, OBSTACLE, INCIDENT, OUTCOME),
        column=("KIND", 2),
    ),
    text("severity?", "the usual severity of a finding",
         values=[str(severity) for severity in Severity], column=("SEVERITY", 1)),
    number("exitCode?", "exit code of an error", column=Column("EXIT", 3)),
    text("title", "what it means, in a few words", column=folded("TITLE")),
    texts("tools", "what finds it"),
    text("meaning?", "what is the case"),
    text("kafka?", "what Kafka does"),
    text("action?", "what to do"),
    text("proof?", "how to be sure"),
)  # fmt: skip
"""The fields of a `CodePage`."""
EXPLAIN = Answer((parts("codes", "the codes, or the pages of one", PAGE, get=lambda pages: pages),))
