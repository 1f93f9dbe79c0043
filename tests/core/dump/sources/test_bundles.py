"""Archives of directories as sources."""

from pathlib import Path

import pytest

from kraftops.dump.sources.bundles import opened
from tests.helpers.logs.bundles import KINDS

LOG = f"{0:020}.log"


@pytest.mark.parametrize("kind", ["log.tar", "log.tar.gz", "log.zip"])
def test_only_the_metadata_log_is_kept_for_its_readers(tmp_path: Path, kind: str) -> None:
    """A bundle of 40 GB needed as much room in the temporary directory."""
    path = tmp_path / kind
    files = {
        f"n1/{folder}{LOG}": b"log" for folder in ("__cluster_metadata-0/", "t-0/", "a-b-1/", "")
    }
    KINDS[kind](path, files)

    with opened([str(path)], pytest.fail, only_metadata=True) as bundles:
        kept = [
            f"{inner}/{name}"
            for inner, folder in bundles[str(path)].mount.folders.items()
            for name in folder.files
        ]

    assert sorted(kept) == [f"n1/{LOG}", f"n1/__cluster_metadata-0/{LOG}"]
