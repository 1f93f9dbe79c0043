"""The engine is the one that KRAFTOPS_ENGINE names, or the one that is there."""

from collections.abc import Iterator

import pytest

from kraftops.engine import choice
from kraftops.engine.choice import engine_name, open_fold, why_not_native
from kraftops.engine.reference.fold import ReferenceFold
from kraftops.errors import UsageError
from tests.helpers.engine.choice import using


def test_unknown_engine_is_refused() -> None:
    with using("fast"), pytest.raises(UsageError) as caught:
        engine_name()

    assert caught.value.hint == "native or reference"


@pytest.fixture
def no_native(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    choice._engine.cache_clear()
    monkeypatch.setattr(choice, "why_not_native", lambda: "not built")
    yield
    choice._engine.cache_clear()


@pytest.mark.usefixtures("no_native")
def test_reference_is_used_without_a_native_engine() -> None:
    with using(""):
        assert engine_name() == "reference"
    with using("native"), pytest.raises(UsageError, match="which is not built"):
        engine_name()


def test_native_engine_is_used_if_it_is_there() -> None:
    if why_not_native():
        pytest.skip("there is no native engine")
    with using(""):
        assert engine_name() == "native"


def test_fold_is_by_the_chosen_engine() -> None:
    with using("reference"):
        assert isinstance(open_fold("kafka", lambda _: b""), ReferenceFold)
    if why_not_native() is None:
        with using("native"):
            assert not isinstance(open_fold("kafka", lambda _: b""), ReferenceFold)
