"""Settings of all tests: reproducible property tests, and nothing of the user's environment."""

import os
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.helpers.tools.distribution import Stopwatch, each_once, longest_first, scheduler
from tests.helpers.tools.screen_files import RecordedScreens

os.environ.pop("KRAFTOPS_DEBUG", None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it runs in the background ignore it, and so would all that tests start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        # So does nohup. What is handled here still ends no tests, and has its default in programs.
        signal.signal(number, lambda *_: None)

_SLOW_DATA = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "fast",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=20,
    suppress_health_check=_SLOW_DATA,
)
settings.register_profile(
    "thorough",
    database=None,
    deadline=None,
    max_examples=1000,
    suppress_health_check=_SLOW_DATA,
)
settings.load_profile("fast")  # pytest --hypothesis-profile=thorough looks for what this misses


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add options to write recorded screens and times anew, and to run less or more."""
    parser.addoption("--renew-screens", action="store_true", help="write tests/data/screens anew")
    parser.addoption(
        "--each-once", action="store_true", help="run each test with its first parameters only"
    )
    parser.addoption("--long", action="store_true", help="run tests that are marked long, too")
    parser.addoption("--write-seconds", action="store_true", help="write tests/data/seconds.csv")


def pytest_configure(config: pytest.Config) -> None:
    """Measure tests, where all reports come together."""
    if config.getoption("--write-seconds") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stopwatch())


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with the longest files; tests that are marked long run only with `--long`."""
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        items[:] = [item for item in items if not item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
    if config.getoption("--each-once"):
        items[:], others = each_once(items)
        config.hook.pytest_deselected(items=others)
    longest_first(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute files, and folders whose tests share a session."""
    return scheduler(config, log) if config.getoption("dist") == "loadfile" else None


@pytest.fixture
def recorded(request: pytest.FixtureRequest) -> RecordedScreens:
    """Return the recorded screens."""
    return RecordedScreens(renews=request.config.getoption("--renew-screens"))
