"""A cluster id that is not a canonical UUID is warned of, or refused."""

import io

import pytest

from kraftops.errors import UsageError
from kraftops_cli.storage.options import warn_of_id
from tests.helpers.nodes.node_directories import CLUSTER_ID
from tests.helpers.tools.console import MemoryTerminal


@pytest.mark.parametrize("strict", [True, False])
def test_canonical_uuid_passes(capsys: pytest.CaptureFixture[str], strict: bool) -> None:
    warn_of_id(MemoryTerminal("tool", io.BytesIO()), CLUSTER_ID, strict=strict)

    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("cluster_id", "hint"),
    [
        ("my-cluster", "random-uuid makes one"),
        (f"{CLUSTER_ID}==", f"{CLUSTER_ID} is the canonical"),
    ],
)
def test_other_id_is_a_warning_or_refused(
    capsys: pytest.CaptureFixture[str], cluster_id: str, hint: str
) -> None:
    terminal = MemoryTerminal("tool", io.BytesIO())

    warn_of_id(terminal, cluster_id, strict=False)

    assert hint in capsys.readouterr().err
    with pytest.raises(UsageError, match="not a canonical UUID"):
        warn_of_id(terminal, cluster_id, strict=True)


def test_empty_id_is_refused() -> None:
    with pytest.raises(UsageError, match="is empty"):
        warn_of_id(MemoryTerminal("tool", io.BytesIO()), "", strict=False)
