"""The doctor: all checks that apply, joined by cause; and the page of each code."""

import sys

from kraftops import CallablePackage

sys.modules[__name__].__class__ = CallablePackage  # kraftops.doctor(…) is a question of users
