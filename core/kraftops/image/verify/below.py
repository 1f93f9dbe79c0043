"""The damage of a metadata log that its newest snapshot hides: the image is read from there on."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress

from kraftops.errors import SourceError
from kraftops.findings.finding import Finding
from kraftops.image.state.findings import DAMAGE
from kraftops.image.state.image import MetadataImage
from kraftops.log.files import METADATA_PARTITION
from kraftops.server.locks import lock_holder
from kraftops.storage.verify.metadata_start import lone_log_findings


def below_findings(image: MetadataImage, sources: Sequence[str]) -> Iterator[Finding]:
    """Yield what a start makes of the directories of stopped servers among the sources of an image.

    A server that runs writes files one after another, which then contradict each other. The damage
    of an image that is cut short tells as much.
    """
    if any(finding.code == DAMAGE for finding in image.log_findings):
        return
    for source in sources:
        inside = os.path.join(source, METADATA_PARTITION)
        folder = inside if os.path.isdir(inside) else source
        # What cannot be read, the image tells.
        with suppress(OSError, SourceError):
            if os.path.isdir(folder) and not lock_holder(os.path.dirname(os.path.abspath(folder))):
                yield from lone_log_findings(folder)
