"""Folds of both engines."""

import pytest

from tests.helpers.engine.fold_driver import FOLDS, FoldDriver, Make


@pytest.fixture(params=FOLDS)
def make(request: pytest.FixtureRequest) -> Make:
    return FOLDS[request.param]


@pytest.fixture
def driver(make: Make) -> FoldDriver:
    return FoldDriver(make)
