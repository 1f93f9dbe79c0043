"""Names of the directories of partitions."""

import pytest

pytest.importorskip("pyspark")

from kraftops.spark.dump.targets import Target
from kraftops.spark.sql.parts_writer import PartsRequest, folder_name, request_of


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("TOPIC_RECORD", "type=TOPIC_RECORD"),
        ("a/b=c", "type=a%2Fb%3Dc"),
        ("50%", "type=50%25"),
        ("", "type=__HIVE_DEFAULT_PARTITION__"),
        (None, "type=__HIVE_DEFAULT_PARTITION__"),
    ],
)
def test_folder_is_named_as_hive_does(value: str | None, name: str) -> None:
    assert folder_name("type", value) == name


def test_request_is_an_option_of_text() -> None:
    target = Target("s3://b/out", "s3://b/.out.tmp", "0123abcd", overwrite=True)
    request = PartsRequest(target, "csv", "a,b\n", "type")

    assert request_of(request.options()) == request
