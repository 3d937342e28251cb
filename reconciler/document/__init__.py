"""Merge, differences and digests of JSON documents. Pure.

The service shows zero values that were never sent, and may drop declared zero values. So where a
declared document is compared with a live one, `""`, `0`, `false`, `[]`, `null` and the
`*UNSPECIFIED` of an enumeration equal absent; an empty object does not. Two documents that we wrote
are compared `exactly`: there a zero is declared or not. Numbers are equal by value; booleans are
never numbers.

All public names of the two files are used from here.
"""

from reconciler.document.compare import *  # noqa: F403 - a second list of the names would differ
from reconciler.document.merge import *  # noqa: F403 - as above
