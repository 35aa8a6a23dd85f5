"""What is done for the time of a start or an answer alone; docs/internals/start.md gives measurements.

Two modules change packages that are not ours while these are imported: `shiboken_import` and
`pyqtgraph_import`.  With RCV_PLAIN_IMPORTS=1 in the environment neither does.
"""

import os

HAS_PLAIN_IMPORTS = bool(os.environ.get("RCV_PLAIN_IMPORTS"))
