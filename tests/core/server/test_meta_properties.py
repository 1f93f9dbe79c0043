"""The file that makes a directory a log directory."""

import re
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftops.errors import DecodeError
from kraftops.java.properties import properties
from kraftops.server.meta_properties import MetaProperties, file_bytes, read
from kraftops.uuids import from_text

DIRECTORY = "PXBx0gHKS4OC_RCYdaUGYg"
WHOLE = MetaProperties(1, "abc", 7, from_text(DIRECTORY))


def parsed(text: str) -> MetaProperties:
    return read(properties(text.encode("iso-8859-1")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            f"version=1\ncluster.id=abc\nnode.id=7\ndirectory.id={DIRECTORY}\n", WHOLE, id="v1"
        ),
        pytest.param(
            "version=1\ncluster.id=abc\nnode.id=7\n",
            replace(WHOLE, directory_id=None),
            id="v1 without a directory id",
        ),
        pytest.param(
            f"version= 1 \ncluster.id=abc\nnode.id=+07\ndirectory.id={DIRECTORY}==\n",
            WHOLE,
            id="v1 as Java reads numbers",
        ),
        pytest.param(
            f"node.id=8\nversion 1\ncluster.id:abc\nnode.id=7\nx=y\nbroker.id=z\n"
            f"directory.id={DIRECTORY}",
            WHOLE,
            id="v1 with more keys, and twice the same",
        ),
        pytest.param(
            "version=1\ncluster.id=\nnode.id=-1\n",
            MetaProperties(1, "", -1, None),
            id="v1 with odd ids",
        ),
        pytest.param(
            "version=1\ncluster.id=a\nnode.id=2147483647\n",
            MetaProperties(1, "a", (1 << 31) - 1, None),
            id="v1 with the largest id",
        ),
        pytest.param("", MetaProperties(0, None, None, None), id="empty file"),
        pytest.param("#\n\n! x\n", MetaProperties(0, None, None, None), id="comments only"),
        pytest.param("version=0\n", MetaProperties(0, None, None, None), id="v0"),
        pytest.param("broker.id=7\n", MetaProperties(0, None, 7, None), id="v0 without a version"),
        pytest.param(
            "version=0\nbroker.id=7\ncluster.id=a b\nnode.id=x\n",
            MetaProperties(0, "a b", 7, None),
            id="v0 with a node id, which it has not",
        ),
        pytest.param(
            f"version=0\ndirectory.id={DIRECTORY}\n",
            MetaProperties(0, None, None, from_text(DIRECTORY)),
            id="v0 with a directory id",
        ),
    ],
)
def test_file_is_read(text: str, expected: MetaProperties) -> None:
    assert parsed(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("version=2", "Unknown meta.properties version number 2"),
        ("version=-1", "Unknown meta.properties version number -1"),
        ("version=one", "Invalid meta.properties version string 'one'"),
        ("version=", "Invalid meta.properties version string ''"),
        ("version=4294967297", "Invalid meta.properties version string '4294967297'"),
        ("version=2147483648", "Invalid meta.properties version string '2147483648'"),
        ("version=2147483647", "Unknown meta.properties version number 2147483647"),
        ("version=1\ncluster.id=a", "Failed to find node.id"),
        ("version=1\nbroker.id=1\ncluster.id=a", "Failed to find node.id"),
        ("version=1\nnode.id=1", "cluster.id was not found."),
        ("version=1\nnode.id=one\ncluster.id=a", "Unable to read node.id as a base-10 number."),
        ("version=1\nnode.id=1 \ncluster.id=a", "Unable to read node.id as a base-10 number."),
        ("version=1\nnode.id=\ncluster.id=a", "Unable to read node.id as a base-10 number."),
        ("broker.id=0x1", "Unable to read broker.id as a base-10 number."),
        ("broker.id=2147483648", "Unable to read broker.id as a base-10 number."),
        ("directory.id=abc", "Unable to read directory.id as a Uuid: Input string `abc` decoded "),
        ("directory.id=", "Unable to read directory.id as a Uuid: Input string `` decoded as 0 "),
        (f"directory.id=-{'A' * 24}", "Unable to read directory.id as a Uuid: Input string with "),
    ],
)
def test_bad_properties_are_refused_as_by_kafka(text: str, message: str) -> None:
    with pytest.raises(DecodeError) as refused:
        parsed(text)

    assert refused.value.message.startswith(message)


@pytest.mark.parametrize(
    ("meta", "keys"),
    [
        (WHOLE, ["node.id", "directory.id", "version", "cluster.id"]),
        (replace(WHOLE, directory_id=None), ["node.id", "version", "cluster.id"]),
        (MetaProperties(0, "a", 1, None), ["broker.id", "version", "cluster.id"]),
        (MetaProperties(0, None, None, None), ["version"]),
    ],
)
def test_keys_are_in_kafkas_order(meta: MetaProperties, keys: list[str]) -> None:
    assert [key for key, _ in meta.items()] == keys
    assert parsed(file_bytes(meta.items()).decode()) == meta


@pytest.mark.parametrize(
    ("zone", "shown"), [("UTC", "UTC"), ("CET-1CEST", "(CET|CEST)"), ("<+0330>-3:30", r"\+0330")]
)
def test_second_line_is_the_time_as_java_writes_it(
    zone: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """English names, whatever the locale."""
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        first, second, *rest = file_bytes(WHOLE.items()).decode().splitlines()
    finally:
        monkeypatch.undo()
        time.tzset()

    assert first == "#"
    assert re.fullmatch(
        r"#(Mon|Tue|Wed|Thu|Fri|Sat|Sun) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) "
        rf"\d\d \d\d:\d\d:\d\d {shown} \d{{4}}",
        second,
    )
    assert rest == ["node.id=7", f"directory.id={DIRECTORY}", "version=1", "cluster.id=abc"]


@given(st.text())
def test_any_cluster_id_is_read_back(cluster_id: str) -> None:
    meta = replace(WHOLE, cluster_id=cluster_id)

    assert read(properties(file_bytes(meta.items()))) == meta


@given(st.binary(max_size=200))
def test_garbage_is_read_or_refused(raw: bytes) -> None:
    """Nothing else comes of it."""
    try:
        meta = read(properties(raw))
    except DecodeError:
        return
    assert meta.version in (0, 1)
