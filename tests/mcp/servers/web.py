"""The same server by streamable HTTP: ``web.py PORT [json]``."""

from __future__ import annotations

import sys

port, *rest = sys.argv[1:]
sys.argv[1:] = []
import good  # noqa: E402

good.server.run("streamable-http", host="127.0.0.1", port=int(port), json_response="json" in rest)
