"""The spread of leaders and replicas."""

from kraftops.views.skew import Share, skew
from tests.helpers.tree.placed_replicas import TOPIC, broker, partition
from tests.helpers.tree.reading import image_of


def test_brokers_and_racks_have_their_loads() -> None:
    image = image_of(
        *(broker(1, "a"), broker(2, "b"), broker(10, "a"), TOPIC, partition(0)),
        *(partition(1, replicas=[2, 1], isr=[1], leader=1), partition(2, replicas=[], isr=[])),
    )

    assert skew(image) == [
        Share("broker", "1", "a", 3, 1, 2),
        Share("broker", "2", "b", 0, 1, 2),
        Share("broker", "3", None, 0, 0, 1),
        Share("broker", "10", "a", 0, 0, 0),
        Share("rack", "a", None, 3, 1, 2),
        Share("rack", "b", None, 0, 1, 2),
    ]
