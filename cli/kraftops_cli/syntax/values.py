"""Types of option values, checked when the arguments are parsed."""

import re
from collections.abc import Mapping
from typing import Any

import click

from kraftops.display.sizes import size_of

_MAX_SECONDS = 10_000_000  # a third of a year; the system's calls refuse far larger ones


class Number(click.ParamType[int]):
    """A number as Java reads it, a sign and digits, from *minimum* to *maximum*."""

    name = "number"

    def __init__(self, maximum: int, *, minimum: int = 0) -> None:
        self._minimum, self._maximum = minimum, maximum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if not re.fullmatch(r"[+-]?[0-9]{1,20}", text) or not (
            self._minimum <= int(text) <= self._maximum
        ):
            self.fail(
                f"{text!r} is not a number from {self._minimum} to {self._maximum}", param, ctx
            )
        return int(text)


class Plural(click.Choice[str]):
    """A choice of plurals that takes the singular too, as *singulars* has it by plural."""

    def __init__(self, singulars: Mapping[str, str]) -> None:
        super().__init__(tuple(singulars))
        self._plurals = {singular: plural for plural, singular in singulars.items()}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(self._plurals.get(value, value), param, ctx)


class JavaInteger(click.ParamType[int]):
    """A number as `Integer.parseInt` reads it, refused in argparse4j's words."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        if re.fullmatch(r"[+-]?[0-9]{1,40}", text) and -(1 << 31) <= int(text) < 1 << 31:
            return int(text)
        names = "/".join(sorted(param.opts, key=len, reverse=True)) if param else "number"
        error = click.UsageError(
            f"argument {names}: could not convert '{text}' to Integer"
            f' (For input string: "{text}")',
            ctx,
        )
        error.hint = "it is a number, such as 102"  # type: ignore[attr-defined]
        raise error


_LARGEST_SIZE = 1 << 50  # a petabyte: more than any disk of a broker


class Size(click.ParamType[int]):
    """A size in bytes, or with a unit of 1024: 512m, 2g; at least *minimum*, at most 1024t."""

    name = "size"

    def __init__(self, minimum: int) -> None:
        self._minimum = minimum

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        size = size_of(str(value))
        if not self._minimum <= size <= _LARGEST_SIZE:
            least = f"{self._minimum >> 20}m" if self._minimum >> 20 else self._minimum
            near = re.match(r"[0-9]{1,15}[kmgt]", str(value).lower())
            is_near = near and size_of(near[0]) >= self._minimum
            example = f"perhaps {near[0]}" if near and is_near else "as 512m or 2g"
            self.fail(f"{value!r} is not a size from {least} to 1024t, {example}", param, ctx)
        return size


class Duration(click.ParamType[int]):
    """A time of numbers and units, as 90s, 15m or 1d12h; returned in ms."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        from kraftops.query.times import parse_time

        if not re.fullmatch(r"([0-9]{1,9}(ms|[smhdw]))+", str(value)):
            self.fail(f"{value!r} is not a time such as 90s, 15m or 1d12h", param, ctx)
        return -parse_time(str(value), 0)


class Seconds(click.ParamType[float]):
    """A time in seconds: more than 0, and within the range of the system's clocks."""

    name = "seconds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= _MAX_SECONDS:  # NaN is not, either
            near = re.fullmatch(r"([0-9]{1,4}) ?(s|m|h)[a-z]*", str(value))
            text = f"{value!r} is not a number of seconds from 0 to {_MAX_SECONDS}"
            if near:
                text += f", perhaps {int(near[1]) * {'s': 1, 'm': 60, 'h': 3600}[near[2]]}"
            self.fail(text, param, ctx)
        return seconds
