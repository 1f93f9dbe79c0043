"""What the metadata log knows of the last hour, for a screen that begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kraftops.display.sizes import number_text
from kraftops.image.load.loading import limits_of
from kraftops.timeline.answer import incident_text
from kraftops.timeline.changes import Kind, read_changes
from kraftops.timeline.incidents import incidents_of
from kraftops_cli.cluster.watch.happenings import Happening
from kraftops_terminal.live_pages import SPAN

_MOST = 5  # incidents; the screen has a few lines for what happens
_COUNTED: dict[Kind, str] = {
    "leader": "changes of leaders",
    "isr": "changes of ISRs",
    "config": "changes of configurations",
    "topic": "changes of topics",
}


def past_happenings(names: Sequence[str], now: int) -> list[Happening]:
    """Return the incidents and the counts of changes of the last hour, in order of time.

    Args:
        names: the files of the metadata log.
        now: in ms since the epoch.

    Raises:
        KraftopsError: they cannot be read.
    """
    log = read_changes(names, since=limits_of(None, now - SPAN))
    happenings = [
        Happening(
            incident.begin, "bad" if incident.end is None else "warning", incident_text(incident)
        )
        for incident in incidents_of(log)[-_MOST:]
    ]
    counts = Counter(change.kind for change in log.changes)
    words = [f"{number_text(counts[kind])} {name}"
             for kind, name in _COUNTED.items() if counts[kind]]  # fmt: skip
    if words:
        happenings.append(Happening(now, "", f"in the last hour: {', '.join(words)}"))
    return happenings
