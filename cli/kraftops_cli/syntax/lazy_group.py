"""A group of commands that are imported only when they are run."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from kraftops_cli.syntax.errors import BadArguments, UnknownCommand
from kraftops_cli.syntax.help_text import ToolContext, write_examples
from kraftops_cli.syntax.nearest import unknown_option


class LazyGroup(click.Group):
    """A group that imports a command when it is run."""

    context_class = ToolContext

    def __init__(
        self,
        *args: Any,
        lazy: dict[str, tuple[str, str]],
        examples: Mapping[str, str] | None = None,
        sections: Mapping[str, str] | None = None,
        tasks: Mapping[str, Sequence[str]] | None = None,
        **kwargs: Any,
    ) -> None:
        """Make a group.

        Args:
            *args: Click's own arguments.
            lazy: The module of each command, `.MODULE` in this package, with `:NAME` where the
                module's own name is not the function's, and its short help; one without is hidden.
            examples: Command lines by what they are for.
            sections: Texts of the manual by title.
            tasks: The names of the commands by the task that they are for, as help lists them.
            **kwargs: Click's own arguments.
        """
        super().__init__(*args, **kwargs)
        self._lazy = lazy
        self.examples = examples or {}
        self.sections = sections or {}
        self._tasks = tasks or {"Commands": [name for name, (_, short) in lazy.items() if short]}

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - Click's
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - Click's
        if cmd_name not in self._lazy:
            return None
        module, _, name = self._lazy[cmd_name][0].partition(":")
        function = name or module.rpartition(".")[2]
        command: click.Command = getattr(import_module(module, "kraftops_cli"), function)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse options; an unknown one has the text of all commands."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            names = [name for param in self.get_params(ctx) for name in param.opts]
            raise BadArguments(unknown_option(error.option_name, names), ctx) from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the error of an unknown name suggests similar ones."""
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:
            from difflib import get_close_matches

            near = get_close_matches(error.command_name, self.list_commands(ctx), 1)
            hint = f"perhaps {near[0]} is meant" if near else ""
            message = f"there is no command {error.command_name!r}"
            raise UnknownCommand(message, ctx, hint, error.command_name) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - Click's
        """Write the table of commands without importing them."""
        for task, names in self._tasks.items():
            with formatter.section(task):
                formatter.write_dl([(name, self._lazy[name][1]) for name in names])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples, which the help of a tool has above its options, and the epilog."""
        write_examples(formatter, ctx, self.examples)
        super().format_epilog(ctx, formatter)
