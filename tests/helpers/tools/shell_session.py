"""Sessions of our shell on real logs, one command at a time."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kraftops.image.load.loading import load
from kraftops.server.nearby import directory_paths_near
from kraftops.tree.layout import tree_of
from kraftops.tree.view import Form
from kraftops_shell.run import run_line
from kraftops_shell.session.image_source import ImageSource
from kraftops_shell.session.session import Session
from tests.helpers.tools.corpus import SHELL
from tests.helpers.tree.small_trees import Written

NOW = 1_795_300_000_000
NODE = SHELL / "in/n431"
LOG = NODE / "__cluster_metadata-0/00000000000000000000.log"
SNAPSHOT = NODE / "__cluster_metadata-0/00000000000000000413-0000000001.checkpoint"


@dataclass(frozen=True, slots=True)
class Answer:
    """The output of a command, and its exit code."""

    code: int
    out: str
    err: list[str]

    @property
    def lines(self) -> list[str]:
        """The lines of its output."""
        return self.out.splitlines()


class Shell:
    """A session of ours, or in Kafka's form, on a log."""

    def __init__(
        self, source: Path = LOG, *, kafka: bool = False, at_offset: int | None = None
    ) -> None:
        image = load(source, at_offset=at_offset)
        origin = ImageSource(
            image, (str(source),), at_offset=at_offset, version="1", now=lambda: NOW
        )
        self._out, self._err = Written(), Written()
        form = Form.KAFKA if kafka else Form.OURS
        paths = partial(directory_paths_near, [str(source)])
        root = tree_of(image, form=form, version="1", directory_paths=paths)
        self.session = Session(root, self._out.append, self._err.append, is_kafka=kafka)
        self.session.image_source = origin
        self.session.call = partial(run_line, self.session)

    def __call__(self, *words: str) -> Answer:
        self._out.clear()
        self._err.clear()
        code = run_line(self.session, words)
        return Answer(code, self._out.text, list(self._err))
