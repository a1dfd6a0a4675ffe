"""An HTTP server whose answers are too large, or become too large: ``bomb.py PORT SCENARIO``."""

from __future__ import annotations

import gzip
import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCENARIO = sys.argv[2]
READS = {"readOnlyHint": True}
INFO = {"name": "bomb", "version": "0"}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method, id_ = message.get("method"), message.get("id")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            self.say(id_, {"protocolVersion": version, "capabilities": {}, "serverInfo": INFO})
        elif method == "tools/list":
            tool = {"name": "go", "inputSchema": {"type": "object"}, "annotations": READS}
            self.say(id_, {"tools": [tool]})
        elif method == "tools/call":
            self.go(id_)
        elif id_ is None:
            self.send_response(202)
            self.end_headers()
        else:
            self.send_response(404)
            self.end_headers()

    def go(self, id_: object) -> None:
        words = {"content": [{"type": "text", "text": "x" * 3_000_000}]}
        if SCENARIO == "json":
            self.say(id_, words)
        elif SCENARIO == "gzip":
            self.say(id_, words, encoding="gzip")
        elif SCENARIO == "objects":
            self.say(id_, {"content": [], "structuredContent": {"a": [{}] * 300_000}})
        elif SCENARIO == "events":
            data = json.dumps({"jsonrpc": "2.0", "id": id_, "result": words})
            self.answer(f"event: message\ndata: {data}\n\n".encode(), "text/event-stream")
        else:
            self.send_response(307)
            self.send_header("Location", f"http://localhost:{self.server.server_port}/mcp")
            self.end_headers()

    def say(self, id_: object, result: dict, encoding: str = "") -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}).encode()
        self.answer(gzip.compress(body) if encoding else body, "application/json", encoding)

    def answer(self, body: bytes, kind: str, encoding: str = "") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        if encoding:
            self.send_header("Content-Encoding", encoding)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
