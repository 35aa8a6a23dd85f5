"""How long a test waits for what must happen: far longer than it takes, on a machine with much else to do.

Nothing is expected to take so long: a test that waits in vain fails, and says for what.  It is less than the
limit of a test (`faulthandler_timeout` in pyproject.toml), which ends it without a word from itself.
"""

HANG_S = 120.0
HANG_MS = int(HANG_S * 1e3)
