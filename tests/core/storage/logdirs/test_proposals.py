"""Ids in proposed commands are harmless in a shell."""

import pytest

from kraftops.storage.logdirs.proposals import (
    cluster_id_argument,
    format_cure,
    rewrite_cure,
    safe_cluster_id,
)


def test_cluster_id_is_an_argument() -> None:
    assert cluster_id_argument("MkU3OEVBNTcwNTJENDM2Qg") == "-t MkU3OEVBNTcwNTJENDM2Qg"
    assert rewrite_cure("", "a b", "my-cluster.1").commands == (
        "kafka-storage rewrite -c 'a b' --cluster-id my-cluster.1",
    )


def test_cluster_id_with_a_leading_dash_is_no_option() -> None:
    assert cluster_id_argument("-Yh6") == "--cluster-id=-Yh6"
    assert rewrite_cure("", "c", "-Yh6").commands == (
        "kafka-storage rewrite -c c --cluster-id=-Yh6",
    )


@pytest.mark.parametrize("text", [None, "", "x; touch z $(id)", "a b", "x\ny", "`id`", "x" * 300])
def test_no_command_is_proposed_without_an_id(text: str | None) -> None:
    """Kafka takes any text as an id, also that of a placeholder."""
    assert safe_cluster_id(text) is None
    cure = format_cure("format it", "c", text, "-N")
    assert cure.commands == rewrite_cure("", "c", text).commands == ()
    assert "(kafka-storage format -N): take the cluster id for -t from" in cure.text
