"""Missing keys are refused, or have their defaults."""

import pytest

from tests.helpers.nodes.server_configs import refusal

pytestmark = pytest.mark.usefixtures("working_directory")


@pytest.mark.parametrize("key", ["process.roles", "node.id", "controller.listener.names"])
def test_required_key_that_is_missing_is_refused(key: str) -> None:
    error = refusal({}, key)

    assert error.message == (
        f'server.properties: Missing required configuration "{key}" which has no default value.'
    )
    assert error.hint
