"""The page of an examination: that of a report on the metadata log, with its findings on top."""

from kraftops.answers.version import JSON_VERSION
from kraftops.checkup.diagnosis import Diagnosis
from kraftops.checkup.examination import Examination
from kraftops.errors import KraftopsError
from kraftops.fileio.mounts import archive_of
from kraftops.report.build import Heading, MetadataInput, build
from kraftops.report.changes import cut
from kraftops.report.commands import of_archive, of_metadata_files
from kraftops.report.document import as_data
from kraftops.report.findings import MOST_FINDINGS
from kraftops.report.metadata_log import Span, read_metadata_log
from kraftops.report.page.render import page
from kraftops.server.nearby import cluster_id_near


def page_of(diagnosis: Diagnosis, examination: Examination, generator: str) -> str:
    """Return the page as HTML; *generator* is the program with its version."""
    span = Span(None, None, examination.now)
    heading = Heading(diagnosis.verdict, span, generator)
    report = build(heading, _metadata(examination, span), {})
    report = report._replace(
        title=cut(diagnosis.verdict), findings=tuple(diagnosis.findings[:MOST_FINDINGS])
    )
    return page({"command": "report", "formatVersion": JSON_VERSION, **as_data(report)})


def _metadata(examination: Examination, span: Span) -> MetadataInput | None:
    """Return what the newest metadata log on disk tells; None without one that can be read."""
    folder = examination.metadata_log
    if folder is None:
        return None
    try:
        log = read_metadata_log([folder], span, examination.budget)
    except KraftopsError:
        return None
    archive = archive_of(folder)
    commands = of_archive(archive) if archive else of_metadata_files([folder], folder)
    return MetadataInput(log, commands, cluster_id_near([folder]))
