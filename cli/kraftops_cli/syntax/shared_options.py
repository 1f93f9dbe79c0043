"""Options that several commands have."""

from dataclasses import dataclass
from typing import Any

from kraftops_cli.syntax.option_fields import option
from kraftops_cli.terminal.times import TIMES

OVERWRITE_ATTRIBUTES: dict[str, Any] = {
    "is_flag": True,
    "help": "Replace the output if it exists, as a whole.",
}


@dataclass(frozen=True, kw_only=True)
class SpanOptions:
    """The options that name a span of a metadata log."""

    since: str | None = option(
        "--since TIME", help=f"Only what happened from this time on: {TIMES}."
    )
    until: str | None = option("--until TIME", help="Only what happened before this time.")


@dataclass(frozen=True, kw_only=True)
class AuthorizerOptions:
    """The option that names logs of Kafka's authorizer."""

    authorizer_logs: tuple[str, ...] = option(
        "--authorizer-log FILE",
        multiple=True,
        help="Join changes with the requests in this log of Kafka's authorizer.",
    )


PRINCIPALS = {
    "Principals": """\
With --authorizer-log, a change that a client asked for has the principals of requests that were
allowed from 5 s before to 1 s after it, could make such a change, and named its topic or were for
the whole cluster. They are likely, not certain. Kafka logs allowed requests if the logger
kafka.authorizer.logger is at DEBUG, on controllers for most changes. Its times are local: set TZ to
the time zone of the server, as TZ=UTC.""",
}
"""The section of the help about that option."""
