# The public names of the library: this list is the only one, and __init__.py reads it.
from types import ModuleType

from kraftops.doctor.diagnosis import Diagnosis as Diagnosis
from kraftops.dump.scan.rows import scan as scan
from kraftops.errors import KraftopsError as KraftopsError
from kraftops.findings.finding import Finding as Finding
from kraftops.image.load.loading import load as load
from kraftops.image.state.image import MetadataImage as MetadataImage
from kraftops.library.clusters import Cluster as Cluster
from kraftops.library.clusters import cluster as cluster
from kraftops.library.questions import Check as Check
from kraftops.library.questions import changes as changes
from kraftops.library.questions import check as check
from kraftops.library.questions import doctor as doctor
from kraftops.library.questions import incidents as incidents
from kraftops.library.questions import verify as verify
from kraftops.library.results import Findings as Findings
from kraftops.library.results import Results as Results
from kraftops.query.filters import Filter as Filter
from kraftops.query.query import Query as Query
from kraftops.query.row import Row as Row
from kraftops.tree.layout import tree_of as tree_of
from kraftops.tree.node import Directory as Directory
from kraftops.tree.node import Leaf as Leaf
from kraftops.tree.node import Node as Node

class CallablePackage(ModuleType):
    def __call__(self, *args: object, **kwargs: object) -> object: ...
