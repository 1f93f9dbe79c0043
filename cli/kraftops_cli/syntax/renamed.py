"""An option that had another name in an earlier release."""

from collections.abc import Sequence
from typing import Any

import click


class RenamedOption(click.Option):
    """An option with *former* names, which go on working for a release, and are not shown."""

    def __init__(
        self, declarations: Sequence[str], *, former: Sequence[str], **kwargs: Any
    ) -> None:
        super().__init__([*declarations, *former], **kwargs)
        self.former = tuple(former)

    @property
    def present(self) -> list[str]:
        return [name for name in self.opts if name not in self.former]

    def get_error_hint(self, ctx: click.Context | None) -> str:  # noqa: ARG002 - Click passes it
        return " / ".join(f"'{name}'" for name in self.present)

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        names, self.opts = self.opts, self.present
        try:
            return super().get_help_record(ctx)
        finally:
            self.opts = names
