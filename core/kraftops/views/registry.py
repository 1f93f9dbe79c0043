"""All views of the state by name."""

from kraftops.views.entries import ACLS, BROKERS, CONFIGS, QUOTAS
from kraftops.views.partitions import PARTITIONS
from kraftops.views.topics import TOPICS

VIEWS = {view.name: view for view in (TOPICS, PARTITIONS, BROKERS, CONFIGS, ACLS, QUOTAS)}
