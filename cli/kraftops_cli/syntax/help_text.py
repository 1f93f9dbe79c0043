"""The help of a command as text: its usage, and lines that keep names whole."""

import re
from collections.abc import Iterable, Mapping

import click

_INNER_HYPHEN = re.compile(r"(?<=\S)-(?=\S)")
_KAFKAS_NAME = re.compile(r"\bkafka-(cluster|dump-log|metadata-shell|storage)\b")
_WHOLE = "\u2011"
"""The hyphen at which no line breaks; only while lines are made, as it cannot be pasted."""


class HelpFormatter(click.HelpFormatter):
    """Click's, but a line does not break inside `kafka-dump-log` or `--release-version`."""

    def write_text(self, text: str) -> None:
        super().write_text(_INNER_HYPHEN.sub(_WHOLE, text))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write names with their descriptions."""
        whole = [(name, _INNER_HYPHEN.sub(_WHOLE, text)) for name, text in rows]
        super().write_dl(whole, col_max, col_spacing)

    def getvalue(self) -> str:
        return super().getvalue().replace(_WHOLE, "-")


def write_examples(
    formatter: click.HelpFormatter, ctx: click.Context, examples: Mapping[str, str]
) -> None:
    """Write descriptions and command lines, which are never broken.

    Tools have the names by which help was asked for: below `kraftops` not those of Kafka's tools.
    """
    is_ours = ctx.command_path.startswith("kraftops ")
    if examples:
        with formatter.section("Examples"):
            for description, example in examples.items():
                formatter.write_text(f"# {description}")
                line = _KAFKAS_NAME.sub(r"kraftops \1", example) if is_ours else example
                formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class ToolContext(click.Context):
    """The context of a command; its path has no arguments of the commands above it."""

    formatter_class = HelpFormatter

    @property
    def command_path(self) -> str:
        above = f"{self.parent.command_path} " if self.parent else ""
        return f"{above}{self.info_name}"
