"""Connections to a cluster."""

import time

from kraftops.wire.cluster import ClusterConnections
from kraftops.wire.config.settings import Settings
from kraftops.wire.net.addresses import Bootstrap
from kraftops.wire.net.deadline import Deadline
from kraftops.wire.rpc.endpoints import Endpoints
from tests.helpers.wire.metadata_quorums import MetadataLog, topic
from tests.helpers.wire.quorums import quorum


def test_metadata_that_is_kept_fetches_only_what_is_new() -> None:
    """Each look at it costs as much as has changed."""
    log = MetadataLog()
    for number in range(200):
        log.add(*topic(number))
    with quorum(log, 1) as controllers:
        bootstrap = [Bootstrap(controllers.address(1))]
        limit = Deadline(20)
        with ClusterConnections(None, Endpoints(bootstrap, Settings()), deadline=limit) as cluster:
            assert cluster.image().fold.topic_count() == 200
            before = len(log.asked)

            for count in range(201, 204):
                log.add(*topic(count))
                while cluster.image().fold.topic_count() < count:
                    assert not limit.is_over
                    time.sleep(0.01)

    offsets = [asked[1] for kind, asked in log.asked[before:] if kind == "fetch"]
    end_of_loading = 402  # the leader's record, the version, and two a topic
    assert len(offsets) > 3
    assert min(offsets) >= end_of_loading
