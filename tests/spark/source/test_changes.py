"""Changes and incidents of the library as tables of Spark."""

import pytest

import kraftops
from kraftops.spark.session.session import Session
from tests.helpers.tools.corpus import DATA

pytestmark = pytest.mark.spark
LOG = str(DATA / "incidents/three")


def test_changes_and_incidents_are_the_same_rows_in_spark(session: Session) -> None:
    spark = session.spark
    changes, incidents = kraftops.changes(LOG), kraftops.incidents(LOG)

    table = spark.createDataFrame(changes.to_arrow()).select("offset", "kind", "what", "brokers")
    rows = {tuple(map(str, row)) for row in table.collect()}
    causes = [row.cause for row in spark.createDataFrame(incidents.to_arrow()).collect()]

    assert rows == {
        tuple(str(change[name]) for name in ("offset", "kind", "what", "brokers"))
        for change in changes.to_dicts()
    }
    assert causes == [incident.cause for incident in incidents]
