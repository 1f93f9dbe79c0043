"""A snapshot and the log up to its end have the same tree."""

from pathlib import Path
from typing import Any

import pytest

from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.leaves import leaves_of

SNAPSHOTS = sorted((SHELL / "in").glob("*/__cluster_metadata-0/*.checkpoint"))


def shown(image: MetadataImage, form: Form) -> dict[str, Any]:
    """Return all leaves but those that tell of the log."""
    of_the_log = ("/image/provenance", "/image/quorum/", "/local/")
    return {
        path: leaf.kafka_text if form is Form.KAFKA else leaf.data
        for path, leaf in leaves_of(tree_of(image, form=form))
        if not path.startswith(of_the_log)
    }


@pytest.mark.parametrize("form", [Form.KAFKA, Form.OURS], ids=["kafka", "ours"])
@pytest.mark.parametrize(
    "snapshot", SNAPSHOTS, ids=lambda path: f"{path.parts[-3]}-{path.name[17:20]}"
)
def test_snapshot_and_log_before_its_end_have_the_same_tree(snapshot: Path, form: Form) -> None:
    end = int(snapshot.name[:20])
    log = snapshot.with_name("00000000000000000000.log")

    of_snapshot, of_log = load(snapshot), load(log, at_offset=end - 1)

    assert len(shown(of_log, form)) > 20
    assert shown(of_snapshot, form) == shown(of_log, form)


@pytest.mark.parametrize("form", [Form.KAFKA, Form.OURS], ids=["kafka", "ours"])
@pytest.mark.parametrize("node", ["n332", "n391", "n431"])
def test_snapshot_and_log_after_it_show_the_whole_log(node: str, form: Form) -> None:
    directory = SHELL / "in" / node / "__cluster_metadata-0"

    whole, from_snapshot = load(directory / "00000000000000000000.log"), load(directory)

    assert shown(from_snapshot, form) == shown(whole, form)


def test_all_snapshots_are_there() -> None:
    assert len(SNAPSHOTS) == 4
