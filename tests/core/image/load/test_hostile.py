"""Hostile records end a load quickly, in a finding or an error."""

from pathlib import Path
from random import Random

import pytest

from kraftops.errors import KraftopsError
from kraftops.image.history import history
from kraftops.image.load.loading import load
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.health import health_counts
from kraftops.image.verify.release import release_findings
from kraftops.image.verify.replicas import replica_findings
from kraftops.image.verify.verify import verify
from kraftops.log.batch import Record
from kraftops.memory import USUAL, Budget
from kraftops.tree.history_subjects import history_subject
from kraftops.tree.layout import tree_of
from kraftops.tree.node import leaves_by_raw_path
from tests.helpers.logs.random_logs import log_batches, log_bytes, new_record, uuid
from tests.helpers.logs.segments import batches_of, resealed
from tests.helpers.logs.written import batch_bytes
from tests.helpers.tools.corpus import SHELL

LOG = SHELL / "in/n431/__cluster_metadata-0/00000000000000000000.log"


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bits_hurt_nobody(tmp_path: Path, seed: int) -> None:
    """The checksums are made right again, so that the records are looked at."""
    random = Random(seed)
    parts = []
    batches = batches_of(LOG.read_bytes())
    chosen = random.sample(range(len(batches)), 3)
    for number, batch in enumerate(batches):
        raw = bytearray(batch.data)
        if number in chosen:
            place = random.randrange(57, len(raw)) if random.random() < 0.9 else 57
            raw[place] ^= 1 << random.randrange(8)
        parts.append(resealed(bytes(raw)))
    path = tmp_path / LOG.name
    path.write_bytes(b"".join(parts))

    try:
        image = load(path)
        list(verify(image))
        list(release_findings(image, "3.9"))
        health_counts(image)
        for _, leaf in leaves_by_raw_path(tree_of(image)):
            assert leaf.json
        for name in ("orders", "grow"):
            history(path, history_subject(["image", "topics", "byName", name]))
    except KraftopsError:
        pass
    assert list(replica_findings([str(path), str(LOG)], Budget()))


@pytest.mark.parametrize("codec", range(1, 5))
def test_batches_that_inflate_without_end_are_refused(tmp_path: Path, codec: int) -> None:
    """Earlier records count; nothing of that size is allocated."""
    topic = new_record("TopicRecord", topicId=uuid(1), name="a")
    record = Record(1, 0, None, bytes(USUAL.batch))
    inflating = batch_bytes([record], attributes=codec, leader_epoch=1)
    path = tmp_path / LOG.name
    path.write_bytes(log_bytes(log_batches([topic])) + inflating)

    image = load(path)

    assert list(image.topic_ids) == ["a"]
    (finding,) = image.findings
    assert finding.code == DAMAGE
    assert f"inflates beyond {USUAL.batch} bytes" in finding.text


def test_record_that_is_too_large_is_a_finding(tmp_path: Path) -> None:
    config = new_record(
        "ConfigRecord", resourceType=2, resourceName="a", name="k", value="v" * (9 << 20)
    )
    topic = new_record("TopicRecord", topicId=uuid(1), name="a")
    path = tmp_path / LOG.name
    path.write_bytes(log_bytes(log_batches([config, topic])))

    image = load(path)

    assert not image.configs
    assert list(image.topic_ids) == ["a"]
    (finding,) = image.findings
    assert finding.place.offset == 0
    assert "is not decoded" in finding.text
