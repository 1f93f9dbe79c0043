"""The columns of a view, with their types, for help."""

from collections.abc import Sequence

from kraftops.answers.fields import Field
from kraftops.answers.types import FieldType
from kraftops.timeline.selection import CHANGE
from kraftops.views import skew
from kraftops.views.groups import GROUPS
from kraftops.views.log import log_columns
from kraftops.views.mentions import ABOUT
from kraftops.views.registry import VIEWS

_MOST_VALUES = 8  # of a column; more are those of all record types


def columns_of(name: str) -> Sequence[Field]:
    """Return the columns of the view that a command prints; none for other commands."""
    match name:
        case "log":
            return (*log_columns(), ABOUT)
        case "changes":
            return CHANGE
        case "groups":
            return GROUPS.columns
        case "skew":
            return skew.COLUMNS
    return VIEWS[name].columns if name in VIEWS else ()


def column_words(column: Field) -> str:
    words = [type_words(column.type), column.help]
    values = sorted(column.type.values)
    if 0 < len(values) <= _MOST_VALUES:
        words.append(f"one of {', '.join(values)}")
    return "; ".join(filter(None, words))


def type_words(field_type: FieldType) -> str:
    """Return the name of a type: `number`, `list of number`."""
    items = f" of {type_words(field_type.items)}" if field_type.items else ""
    return " or ".join(sorted(field_type.kinds)) + items
