"""Ids in proposed commands are harmless in a shell."""

import pytest

from kraftops.storage.logdirs.proposals import (
    cluster_id_argument,
    rewrite_to_cluster,
    shown_cluster_id,
)


def test_cluster_id_is_an_argument() -> None:
    assert cluster_id_argument("MkU3OEVBNTcwNTJENDM2Qg") == "-t MkU3OEVBNTcwNTJENDM2Qg"
    assert (
        rewrite_to_cluster("a b", "my-cluster.1")
        == "kafka-storage rewrite -c 'a b' --cluster-id my-cluster.1"
    )


def test_cluster_id_with_a_leading_dash_is_no_option() -> None:
    assert cluster_id_argument("-Yh6") == "--cluster-id=-Yh6"
    assert rewrite_to_cluster("c", "-Yh6") == "kafka-storage rewrite -c c --cluster-id=-Yh6"


@pytest.mark.parametrize("text", [None, "", "x; touch z $(id)", "a b", "x\ny", "`id`", "x" * 300])
def test_text_that_is_no_id_is_not_proposed(text: str | None) -> None:
    assert shown_cluster_id(text) == "ID"
    assert cluster_id_argument(text) == "-t ID"
