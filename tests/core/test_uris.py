"""URIs among paths."""

import pytest

from kraftops.errors import UsageError
from kraftops.uris import is_remote, local_path


@pytest.mark.parametrize(
    ("path", "remote"),
    [
        ("s3://b/x", True),
        ("HDFS://h/x", True),
        ("file:///x", False),
        ("s3:/b", False),
        ("x", False),
    ],
)
def test_remote_paths(path: str, *, remote: bool) -> None:
    assert is_remote(path) == remote


@pytest.mark.parametrize(
    ("path", "local"),
    [
        ("file:///var/a%20b", "/var/a b"),
        ("FILE://localhost/x", "/x"),
        ("a%20b", "a%20b"),
        ("s3://b/x", "s3://b/x"),
    ],
)
def test_local_paths(path: str, local: str) -> None:
    assert local_path(path) == local


@pytest.mark.parametrize("path", ["file://other/x", "file://"])
def test_file_of_another_machine_is_refused(path: str) -> None:
    with pytest.raises(UsageError):
        local_path(path)
