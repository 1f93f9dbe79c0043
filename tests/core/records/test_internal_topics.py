"""Internal topics and their decoders."""

from importlib import import_module

import pytest

from kraftops.records.internal_topics import (
    INTERNAL_TOPICS,
    InternalTopic,
    decoder_for_topic,
    decoder_names,
)


@pytest.mark.parametrize("topic", INTERNAL_TOPICS, ids=lambda topic: topic.decoder)
def test_decoder_of_a_topic_has_the_name_of_its_module(topic: InternalTopic) -> None:
    assert decoder_for_topic(topic.name) == topic.decoder
    assert import_module(f"kraftops.records.decoders.{topic.decoder}").DECODER.name == topic.decoder


@pytest.mark.parametrize("topic", ["orders", "consumer_offsets", "__consumer_offsets2", ""])
def test_other_topic_has_the_decoder_of_users(topic: str) -> None:
    assert decoder_for_topic(topic) == "user"


def test_every_decoder_has_a_name() -> None:
    assert decoder_names() == ("offsets", "transaction", "metadata", "remote", "share", "user")


def test_parameter_is_the_name_of_the_option() -> None:
    assert InternalTopic("x", "__x", "--x-log-decoder").parameter == "x_log_decoder"
