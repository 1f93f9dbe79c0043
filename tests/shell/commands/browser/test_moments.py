"""Moves through the states of a log, compared with fresh loads."""

from random import Random

from kraftops.image.load.loading import load
from kraftops.tree.layout import tree_of
from kraftops.tree.node import Directory, leaves_by_raw_path
from kraftops_shell.commands.browser.moments import Moments
from tests.helpers.logs.segments import IN
from tests.helpers.tools.shell_session import Shell

LOG = IN / "meta/00000000000000000000.log"


def values(root: Directory) -> dict[str, str]:
    return {path: leaf.json for path, leaf in leaves_by_raw_path(root.get("image"))}


def test_each_move_shows_the_state_of_a_fresh_load() -> None:
    session = Shell(LOG).session
    moments, rng = Moments(session), Random(1)
    offsets = set()
    for _ in range(12):
        before = values(moments.root)
        count = rng.choice((-40, -7, -1, -1, 1, 5))

        has_moved = moments.move(count)

        image = moments.image
        assert image
        assert has_moved is (values(moments.root) != before)
        assert values(moments.root) == values(tree_of(load(LOG, at_offset=image.offset)))
        offsets.add(image.offset)
    assert len(offsets) > 5


def test_moves_end_at_both_ends_of_the_log() -> None:
    session = Shell(LOG).session
    moments = Moments(session)

    assert not moments.move(1)
    assert moments.move(-1)
    assert not moments.is_present
    assert moments.move(100)
    assert moments.is_present
    assert moments.root is session.root
    while moments.move(-100):
        pass
    assert not moments.move(-1)
    assert moments.image
    assert moments.image.offset < 20
