"""Answers of the compiled fold, and its errors."""

import pytest

from kraftops.errors import DecodeError, KraftopsError
from kraftops.log.batch import HEADER_SIZE
from tests.helpers.engine.fold_records import T, partition, topic
from tests.helpers.logs.random_logs import log_batches, log_bytes

native_fold = pytest.importorskip(
    "kraftops.engine.native_fold", reason="there is no compiled engine", exc_type=ImportError
)


@pytest.mark.parametrize("number", [1 << 31, -(1 << 31) - 1, 1 << 70])
def test_number_that_no_partition_can_have_is_not_there(number: int) -> None:
    fold = native_fold.NativeFold(lambda _: b"")

    assert fold.newest(T, number) is fold.partition(T, number) is None


def test_name_that_no_topic_can_have_is_not_there() -> None:
    assert native_fold.NativeFold(lambda _: b"").topic_id("\ud800") is None


def test_record_that_is_gone_is_a_decode_error() -> None:
    fold = native_fold.NativeFold(lambda _: b"")
    data = log_bytes(log_batches([topic(), partition()]))
    fold.apply(data, 0, HEADER_SIZE, 0, 2)

    with pytest.raises(DecodeError, match="not where it was"):
        fold.partition(T, 0)


def test_failure_of_the_engine_is_an_error_with_a_hint() -> None:
    def fail() -> None:
        raise RuntimeError("the compiled engine failed; this is a bug of kraftops")

    with pytest.raises(KraftopsError, match="the compiled engine failed") as caught:
        native_fold._call(fail)

    assert caught.value.hint == "KRAFTOPS_ENGINE=reference reads it slower"
