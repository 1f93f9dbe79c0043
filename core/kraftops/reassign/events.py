"""Events of a change in many steps, for those who watch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Event:
    """A step that was made, or that is waited for; *known* are its facts for programs."""

    name: str
    text: str
    known: dict[str, object] = field(default_factory=dict)


Report = Callable[[Event], None]
