"""Settings of all tests: reproducible property tests, and nothing of the user's environment."""

import os

from hypothesis import HealthCheck, settings

os.environ.pop("KRAFTOPS_DEBUG", None)

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
