"""Faces of messages, by version."""

import pytest

from kraftops.schema.compile import compiled
from tests.helpers.logs.messages import table

PARTITION = table("metadata")["PartitionRecord"]


@pytest.mark.parametrize("version", [-1, 3, 32767])
def test_version_that_is_none_is_a_key_error(version: int) -> None:
    with pytest.raises(KeyError):
        compiled(PARTITION, version)


def test_faces_are_made_once() -> None:
    face = compiled(PARTITION, 2)

    assert compiled(PARTITION, 2) is face
    assert face.read is face.read
    assert face.text is face.text
    assert compiled(PARTITION, 1) is not face


def test_versions_differ() -> None:
    newest = compiled(PARTITION, 2).read(compiled(PARTITION, 2).write({}), 0)[0]
    oldest = compiled(PARTITION, 0).read(compiled(PARTITION, 0).write({}), 0)[0]

    assert set(newest) - set(oldest) == {"directories", "eligibleLeaderReplicas", "lastKnownElr"}
