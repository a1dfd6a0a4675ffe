"""The well-behaved server by streamable HTTP: ``web.py PORT [MARKS]``."""

from __future__ import annotations

import sys

port = int(sys.argv.pop(1))
import good  # noqa: E402 -- it reads what is left

good.server.settings.log_level = "ERROR"
good.server.run("streamable-http", host="127.0.0.1", port=port)
