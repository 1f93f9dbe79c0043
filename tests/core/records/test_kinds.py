"""The kinds of internal topics."""

from importlib import import_module

import pytest

from kraftops.records.kinds import KINDS, Kind, decoder_names, name_for_topic


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_topic_has_the_decoder_of_its_kind(kind: Kind) -> None:
    assert name_for_topic(kind.topic) == kind.name
    assert import_module(f"kraftops.records.decoders.{kind.name}").DECODER.name == kind.name


@pytest.mark.parametrize("topic", ["orders", "consumer_offsets", "__consumer_offsets2", ""])
def test_other_topic_has_the_decoder_of_users(topic: str) -> None:
    assert name_for_topic(topic) == "user"


def test_every_kind_and_users_have_a_name() -> None:
    assert decoder_names() == ("offsets", "transaction", "metadata", "remote", "share", "user")


def test_parameter_is_the_name_of_the_flag() -> None:
    assert Kind("x", "__x", "--x-log-decoder").parameter == "x_log_decoder"
