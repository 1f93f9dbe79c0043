"""Options of a command as fields of the dataclass that takes their values; which ones are given."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, fields, is_dataclass
from typing import Any

import click
from click.core import ParameterSource

_PARAMETER = "parameter"


def option(*names: str, **attributes: Any) -> Any:
    """Return a field for an option, with Click's attributes, and *former* names if it has any.

    A name has the placeholder of the value after it: `--since TIME`. Help shows the default.
    """
    make = RenamedOption if "former" in attributes else click.Option
    *others, last = names
    name, _, placeholder = last.partition(" ")
    usual = {"show_default": "default" in attributes, "metavar": placeholder or None}
    return _field(make, (*others, name), usual | attributes)


def flag(*names: str, **attributes: Any) -> Any:
    return option(*names, is_flag=True, **attributes)


def argument(**attributes: Any) -> Any:
    return _field(click.Argument, (), attributes)


def _field(
    make: Callable[..., click.Parameter], names: Sequence[str], attributes: Mapping[str, Any]
) -> Any:
    empty: object = False if attributes.get("is_flag") else None
    if attributes.get("multiple") or attributes.get("nargs") == -1:
        empty = ()
    return field(
        default=attributes.get("default", empty),
        metadata={_PARAMETER: lambda name: make([*names, name], **attributes)},
    )


def names_of(options: object) -> tuple[str, ...]:
    """Return the names of the parameters of a dataclass, in the order of its fields."""
    if not is_dataclass(options):
        return ()
    return tuple(field.name for field in fields(options) if _PARAMETER in field.metadata)


def parameters(options: object, *names: str) -> list[click.Parameter]:
    """Return Click's parameters of a dataclass, all or those of some names; none of another."""
    if not is_dataclass(options):
        return []
    return [
        option_field.metadata[_PARAMETER](option_field.name)
        for option_field in fields(options)
        if _PARAMETER in option_field.metadata and (not names or option_field.name in names)
    ]


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


def given_options(ctx: click.Context) -> dict[str, str]:
    return {
        str(param.name): param.opts[0]
        for param in ctx.command.params
        if isinstance(param, click.Option)
        and ctx.get_parameter_source(str(param.name)) is ParameterSource.COMMANDLINE
    }
