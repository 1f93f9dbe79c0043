"""What changed in a cluster, and the incidents that changes make."""

import sys

from kraftops import CallablePackage

sys.modules[__name__].__class__ = CallablePackage  # kraftops.incidents(…) is a question of users
