"""The cures of a metadata log that other controllers have too.

A voter with an empty log votes for any other. Two such voters elect each other, and the leader then
cuts the records of the rest of a majority (`LeaderState`, `KafkaRaftClient`): never make one while
no leader is there to send it the log.
"""

from kraftops.findings.aside import aside_cure
from kraftops.findings.catalogue import catalogue
from kraftops.findings.finding import Cure, Finding
from kraftops.log.files import METADATA_PARTITION

_FIRST = "start the other controllers first"
FETCHES_END = Cure(f"{_FIRST}: this server fetches the log from their leader")


def fetches_anew(directory: str) -> Cure:
    """Return the cure of a metadata log that a server cannot continue with: fetch it again."""
    text = f"{_FIRST}; once they have a leader, move {METADATA_PARTITION} away: this server then "
    return aside_cure(f"{text}fetches it again", directory, METADATA_PARTITION)


def cure_of_unknown_voters(finding: Finding, directory: str) -> Cure | None:
    """Return the cure of damage for which other topics fetch the replica again; None for others."""
    row = catalogue().get(finding.code)
    if row is None or not (finding.is_severe and row.restores_replica):
        return None
    cure = FETCHES_END if finding.code == "missing-end" else fetches_anew(directory)
    return cure._replace(text=f"{cure.text}; the only controller needs a copy of the directory")
