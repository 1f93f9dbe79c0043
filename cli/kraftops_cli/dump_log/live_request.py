"""The request to read controllers: whether the options make it, and its source."""

import click

from kraftops.dump.sources.names import Source
from kraftops.log.files import METADATA_TOPIC
from kraftops.query.query import NO_LIMIT
from kraftops.records.dialects import KAFKA_DIALECT
from kraftops.records.internal_topics import INTERNAL_TOPICS, METADATA
from kraftops_cli.dump_log.options import DumpOptions
from kraftops_cli.live.options import LIVE
from kraftops_cli.syntax.option_fields import given_options

_FILE_PARAMETERS = (
    *("files", "jobs", "salvage", "from_start", "spark"),
    *("verify_index_only", "index_sanity_check"),
    *(topic.parameter for topic in INTERNAL_TOPICS if topic.decoder != METADATA),
    *("key_decoder_class", "value_decoder_class"),
)
"""The names of the parameters that have a meaning only for files."""


def is_live(ctx: click.Context, options: DumpOptions) -> bool:
    """Tell whether the options name controllers.

    Raises:
        click.UsageError: an option needs --controllers, or excludes it.
    """
    option_texts = given_options(ctx)
    chosen = next((name for name in ("controllers", "config") if name in option_texts), None)
    if chosen is None:
        for name in LIVE:
            if name in option_texts:
                raise click.UsageError(f"{option_texts[name]} needs --controllers", ctx)
        return False
    wrong = [option_texts[name] for name in _FILE_PARAMETERS if name in option_texts]
    if options.max_bytes not in (None, NO_LIMIT):
        wrong.append("--max-bytes")
    if options.dialect != KAFKA_DIALECT:
        wrong.append("--dialect")
    for other in [*wrong, *options.paths]:
        raise click.UsageError(f"{option_texts[chosen]} and {other} do not go together", ctx)
    return True


def live_source(options: DumpOptions) -> Source:
    name = str(options.controllers or options.config)
    return Source(
        path=name,
        decoder=None if options.raw else METADATA,
        topic=METADATA_TOPIC,
        partition=0,
        group=0,
    )
