"""Images of given records, and their findings."""

from collections.abc import Iterable
from pathlib import Path

from kraftops.findings.finding import Finding
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from tests.helpers.logs.random_logs import MetadataRecord, log_batches, log_bytes, new_record, uuid

TOPIC, OTHER = uuid(1 << 100), uuid(1 << 99)
DIRECTORY = uuid(1 << 101)


def image_of(tmp_path: Path, *records: MetadataRecord) -> MetadataImage:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(log_bytes(log_batches(list(records))))
    return load(path)


def told(findings: Iterable[Finding]) -> list[tuple[int | None, str]]:
    return [(finding.place.offset, finding.text) for finding in findings]


def version(level: int) -> MetadataRecord:
    return new_record("FeatureLevelRecord", name="metadata.version", featureLevel=level)
