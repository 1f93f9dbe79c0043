"""Events of a change that takes many steps, as they are reported to a caller."""

from collections.abc import Callable
from dataclasses import dataclass, field

from kraftops.answers.fields import Field, parts, text


@dataclass(frozen=True, slots=True)
class Event:
    """A step that was made, or that is waited for; *known* are its facts for programs."""

    name: str
    text: str
    known: dict[str, object] = field(default_factory=dict)


Report = Callable[[Event], None]


def events(*facts: Field) -> Field:
    """Define a command's list of events in JSON, each with these *facts*."""
    step = (text("event", "name of the step"), text("text", "the step in words"), *facts)
    return parts("events", "what was done and waited for", step, may_be_missing=True)
