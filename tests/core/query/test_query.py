"""Queries refuse names that do not exist, when they are made."""

from typing import Any

import pytest

from kraftops.errors import UsageError
from kraftops.query.query import Query


@pytest.mark.parametrize(
    ("asked", "choices"),
    [({"decoder": "metdata"}, "offsets, transaction, metadata"), ({"form": "xml"}, "text, json")],
)
def test_unknown_name_is_refused_with_the_choices(asked: dict[str, Any], choices: str) -> None:
    with pytest.raises(UsageError) as refused:
        Query(**asked)

    assert choices in str(refused.value.hint)
