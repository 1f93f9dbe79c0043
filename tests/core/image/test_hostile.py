"""Logs whose records do not hold what they promise end quickly, in a finding or an error."""

from pathlib import Path
from random import Random

import pytest

from kraftops.errors import KraftopsError
from kraftops.image import image as images
from kraftops.image.census import census
from kraftops.image.history import history
from kraftops.image.loading import load
from kraftops.image.verify import verify
from kraftops.image.verify_release import release_findings
from kraftops.image.verify_replicas import replica_findings
from kraftops.tree.layout import tree_of
from kraftops.tree.watching import leaves_below, watched
from tests.corpus import SHELL
from tests.segments import batches_of, resealed

LOG = SHELL / "in/n431/__cluster_metadata-0/00000000000000000000.log"


@pytest.mark.parametrize("seed", range(40))
def test_flipped_bits_hurt_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The checksums are made right again, so that the records are looked at."""
    monkeypatch.setattr(images, "_MANY_CHANGES", -1)
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
        census(image)
        for _, leaf in leaves_below(tree_of(image)):
            assert leaf.json
        for name in ("orders", "grow"):
            history(path, watched(["image", "topics", "byName", name]))
    except KraftopsError:
        pass
    assert list(replica_findings([str(path), str(LOG)]))
