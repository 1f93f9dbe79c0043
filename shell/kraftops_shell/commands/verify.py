"""The command verify."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from kraftops.answers.fields import json_of
from kraftops.errors import KraftopsError
from kraftops.findings.answer import FINDING
from kraftops.findings.finding import HAS_FINDINGS, Finding, exit_code
from kraftops.image.state.image import MetadataImage
from kraftops.image.verify.below import below_findings
from kraftops.image.verify.directories import stray_findings
from kraftops.image.verify.release import release_findings, upgrade_findings
from kraftops.image.verify.replicas import replica_findings
from kraftops.image.verify.verify import verify
from kraftops.records.readability import release_of
from kraftops.storage.bootstrap.releases import by_name
from kraftops_shell.grammar.arguments import Call
from kraftops_shell.session.session import FAILED, OK, JsonAnswer, Session
from kraftops_terminal.findings import finding_line

Check = Callable[[MetadataImage], Iterator[Finding]]


def verify_command(session: Session, call: Call) -> int:
    """Print findings about the log, or about replicas of a log; return 2 if one is not a note."""
    origin = session.source
    sources = call.words
    checks = _checks_of(call)
    code, readable = OK, list[str]()
    answer = session.begin_json(call, "findings") if call.is_json else None
    for source in dict.fromkeys(sources or (None,)):
        origin_text = source or ", ".join(origin.sources) or "the quorum"
        is_sound = True
        try:
            named = (source,) if source else origin.sources
            for finding in _findings(_image(session, source), named, checks):
                is_sound = False
                code = max(code, exit_code([finding]))
                _print(session, answer, finding)
        except KraftopsError as error:
            session.print_error(error.message, code=error.code)
            code = max(code, FAILED)
            continue
        readable.append(origin_text)
        if is_sound and not answer:
            session.line(f"{origin_text}: nothing is wrong")
    if len(readable) > 1:
        for finding in replica_findings(readable, origin.image.store.budget):
            code = HAS_FINDINGS
            _print(session, answer, finding)
    return code


def _image(session: Session, source: str | None) -> MetadataImage:
    origin = session.source
    if source is None or (source,) == origin.sources:
        return origin.image
    return origin.load([source], at_offset=origin.at_offset, at_time=origin.at_time)


def _checks_of(call: Call) -> list[Check]:
    """Return the checks of the flags.

    Raises:
        UsageError: the release is unknown.
    """
    checks: list[Check] = []
    if "--upgrade" in call.flags:
        target = by_name(str(call.flags["--upgrade"]))
        checks.append(lambda image: upgrade_findings(image, target))
    if "--for" in call.flags:
        release = release_of(str(call.flags["--for"]))
        checks.append(lambda image: release_findings(image, release))
    if "--log-dirs" in call.lists:
        directories = call.lists["--log-dirs"]
        checks.append(lambda image: stray_findings(image, directories))
    return checks


def _findings(
    image: MetadataImage, sources: Sequence[str], checks: Iterable[Check]
) -> Iterator[Finding]:
    yield from verify(image)
    yield from below_findings(image, sources)
    for check in checks:
        yield from check(image)


def _print(session: Session, answer: JsonAnswer | None, finding: Finding) -> None:
    if answer:
        answer.put(json_of(FINDING, finding))
    else:
        session.line(finding_line(finding))
