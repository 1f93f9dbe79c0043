"""The task of find on Spark yields the lines of the shell's find, with keys in their order."""

from collections.abc import Sequence
from functools import cache

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops_cli.metadata_shell.spark_find_task import MATCHED, Find, FindRequest, call_of
from tests.helpers.tools.shell_session import LOG, NOW, Shell

OURS = FindRequest(str(LOG), None, None, "kafka", False, False, "1", NOW)


@cache
def image() -> MetadataImage:
    return load(LOG)


def found(*words: str, is_first: bool = True, kafka: bool = False) -> list[tuple[bytes, str]]:
    """Return keys and lines, without the lines of targets that exist."""
    request = OURS._replace(is_kafka=kafka)
    lines = Find(words, request).of_image(image(), is_first=is_first)
    return [(key, line.decode()) for key, line in lines if not line.startswith(MATCHED)]


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["find"], id="all"),
        pytest.param(["find", "/image/topics"], id="topics"),
        pytest.param(["find", "/", "-name", "*o*", "-type", "f"], id="tests"),
        pytest.param(["find", "/image", "-maxdepth", "2"], id="depth"),
        pytest.param(["find", "/image/c*", "/local"], id="targets"),
    ],
)
def test_lines_of_a_whole_image_are_those_of_the_shell(words: Sequence[str]) -> None:
    lines = found(*words)

    assert [line for _, line in lines] == Shell()(*words).lines
    assert [key for key, _ in lines] == sorted(key for key, _ in lines)


def test_keys_are_unique() -> None:
    keys = [key for key, _ in found("find")]

    assert len(set(keys)) == len(keys) > 100


def test_other_shards_leave_out_what_all_of_them_have() -> None:
    lines = [line for _, line in found("find", "/", is_first=False)]

    assert lines
    assert all(line.startswith("/image/") and line.count("/") > 2 for line in lines)
    assert not {"/image/topics", "/image/topics/byName", "/image/configs"} & set(lines)
    every = {line for _, line in found("find", "/")}
    assert set(lines) < every
    sharded = ("/image/topics/byName/", "/image/topics/byId/", "/image/configs/")
    assert {line for line in every if line.startswith(sharded)} <= set(lines)


def test_targets_that_exist_are_marked() -> None:
    lines = Find(("find", "/nowhere", "/image"), OURS).of_image(image(), is_first=True)

    marks = [(key, line) for key, line in lines if line.startswith(MATCHED)]

    assert marks == [((1).to_bytes(4), MATCHED + b"1")]


def test_findings_are_numbered_from_their_first() -> None:
    damaged = MetadataImage()
    damaged.fold.drop(0, "bad")

    lines = [line for _, line in Find(("find", "/local"), OURS).of_findings(damaged, 7)]

    paths = [line for line in lines if not line.startswith(MATCHED)]
    assert paths
    assert all(path.startswith(b"/local/findings/7") for path in paths)


@pytest.mark.parametrize("words", [("ls", "/"), ("cat", "/image")])
def test_other_commands_are_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="there is only find"):
        call_of(words, OURS)
