"""The decoder of `__remote_log_metadata` (KIP-405), with the texts of Kafka's classes."""

from kraftops.records.decoders.framed import FramedDecoder
from kraftops.records.dialects import REMOTE_LOG_METADATA
from kraftops.records.remote_text import payload_text, text_templates

DECODER = FramedDecoder(
    "remote",
    dialect=REMOTE_LOG_METADATA,
    payload_text=payload_text,
    error_lead="Error at offset",
    templates=text_templates,
)
