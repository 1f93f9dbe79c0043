"""The source of an image can be read again, unless it has no files."""

from dataclasses import replace

import pytest

from kraftops.errors import UsageError
from kraftops.image.load.loading import load
from kraftops.image.state.image import MetadataImage
from tests.helpers.tools.shell_session import LOG, Shell

ORDERS = "/image/topics/byName/orders"


def test_state_without_files_cannot_be_read_again() -> None:
    session = Shell(LOG).session
    assert session.image_source
    live = Shell(LOG)
    live.session.image_source = replace(session.image_source, sources=())

    assert live("verify").out == "the quorum: nothing is wrong\n"
    assert live("summary").code == 0
    for words in (["history-of", f"{ORDERS}/0"], ["diff", "@1", "@2"]):
        with pytest.raises(UsageError, match="comes from no files") as refused:
            live(*words)
        assert refused.value.hint == "--snapshot with the files of a node can"


class Quorum:
    """A copy of a quorum's log, which is the log of the files."""

    names = (str(LOG),)

    def state(self, *, at_offset: int | None = None, at_time: int | None = None) -> MetadataImage:
        return load(self.names, at_offset=at_offset, at_time=at_time)

    def complete(self, image: MetadataImage) -> None:
        """Leave the image as it is: the log tells of the leader."""


def test_copy_of_a_quorums_log_is_read_again() -> None:
    files, live = Shell(LOG), Shell(LOG)
    live.session.image_source = replace(files.session.source, sources=(), quorum=Quorum())

    for words in (["history-of", f"{ORDERS}/0"], ["diff", "@5", "/"], ["at", "@5"], ["next"]):
        assert live(*words).out == files(*words).out != ""
    live.session.image_source = replace(live.session.source, is_limited=True)
    with pytest.raises(UsageError, match="no more was read than for --at-offset"):
        live("diff", "@5", "@30")
