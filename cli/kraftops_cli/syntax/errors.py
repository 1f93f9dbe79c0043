"""The error of arguments that a command's syntax does not allow."""

import click


class BadArguments(click.UsageError):
    """Arguments that the syntax does not allow; *hint* says what may help, or is empty."""

    def __init__(self, message: str, ctx: click.Context, hint: str = "") -> None:
        super().__init__(message, ctx)
        self.hint = hint


class UnknownCommand(BadArguments):
    """A *name* of no command of a group."""

    def __init__(self, message: str, ctx: click.Context, hint: str, name: str) -> None:
        super().__init__(message, ctx, hint)
        self.name = name
