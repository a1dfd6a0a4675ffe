"""A server that no SDK would make: ``raw.py SCENARIO``. It writes each line by hand."""

from __future__ import annotations

import json
import sys
import time

SCENARIO = sys.argv[1]
LISTED: list[int] = []


def send(message: dict) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str, **more: object) -> dict:
    hints = {"readOnlyHint": True}
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": hints, **more}


def text(words: str) -> dict:
    return {"content": [{"type": "text", "text": words}]}


def nested(levels: int) -> dict:
    schema: dict = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def doubled(levels: int) -> dict:
    """Forty lines that become a million million schemas."""
    parts = {
        f"p{n}": {"anyOf": [{"$ref": f"#/$defs/p{n + 1}"}, {"$ref": f"#/$defs/p{n + 1}"}]}
        for n in range(levels)
    }
    parts[f"p{levels}"] = {"type": "integer"}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/p0"}}, "$defs": parts}


def anchored(levels: int) -> dict:
    parts = {
        f"p{n}": {"$anchor": f"a{n}", "anyOf": [{"$ref": f"#a{n + 1}"}, {"$ref": f"#a{n + 1}"}]}
        for n in range(levels)
    }
    parts["end"] = {"$anchor": f"a{levels}", "type": "integer"}
    return {"type": "object", "properties": {"a": {"$ref": "#a0"}}, "$defs": parts}


SCHEMAS = {
    "fine": {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {}}},
    "remote": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/s.json"}}},
    "file": {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
    "deep": nested(40),
    "doubled": doubled(40),
    "anchored": anchored(40),
    "large": {"type": "object", "description": "x" * 300_000},
    "circle": {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
    "broken": {"type": "object", "properties": {"a": {"type": 7}}},
    "hang": {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
    "context": {"type": "object", "properties": {"_agtools_context": {"type": "string"}}},
    "odd": {
        "type": "object",
        "properties": {
            name: {"type": "string"} for name in ("self", "tool", "ctx", "a b", "arguments", "")
        },
    },
}
NAMES = [
    "plain", "read/file", "read.file", "read-file", "read_file", "café", "☃", "☁", "x" * 200,
    "a\nb", "a\x1b[31mb", "*", "plain\u202e", "../../etc", "<script>alert(1)</script>", "y" * 900,
    "", "ｐｌａｉｎ",
]  # fmt: skip


def pages(params: dict) -> dict:
    number = int(params.get("cursor") or 0)
    if SCENARIO == "endless":
        return {"tools": [tool(f"t{number}")], "nextCursor": str(number + 1)}
    if SCENARIO == "circle":
        return {"tools": [tool(f"t{number}")], "nextCursor": "1"}
    if SCENARIO == "many":
        return {"tools": [tool(f"t{n}") for n in range(5_000)]}
    if SCENARIO == "names":
        return {"tools": [*map(tool, NAMES), tool("plain")]}
    if SCENARIO == "schemas":
        tools = [tool(name, inputSchema=schema) for name, schema in SCHEMAS.items()]
        output = {"type": "object", "$ref": "https://example.org/s.json"}
        return {"tools": [*tools, tool("output", outputSchema=output)]}
    if SCENARIO == "bottomless":
        return {"tools": [tool("deep", inputSchema=nested(300))]}
    if SCENARIO == "described":
        words = "<script>alert(1)</script>\x00\x1b[2J\u202eevil\U000e0041 " + "long " * 10_000
        return {"tools": [tool("said", description=words, title="<b>T</b>\nx")]}
    if SCENARIO == "untyped":
        return {"tools": [{"name": 7}, tool("list", inputSchema={"type": "array"})]}
    LISTED.append(number)
    words = f"listed {len(LISTED)} times"
    return {"tools": [tool("go", description=words)]}


def write(*pieces: str) -> None:
    for piece in pieces:
        sys.stdout.write(piece)
    sys.stdout.write("\n")
    sys.stdout.flush()


def large(id_: str, token: object) -> None:
    start = '{"jsonrpc":"2.0","id":' + id_ + ',"result":{"content":[{"type":"text","text":"'
    write(start, *(["x" * 1_000_000] * 100), '"}]}}')


def id_at_the_end(id_: str, token: object) -> None:
    start = '{"result":{"content":[{"type":"text","text":"'
    write(start, "x" * 2_000_000, '"}]},"id":' + id_ + ',"jsonrpc":"2.0"}')


def objects(id_: str, token: object) -> None:
    answer(id_, {"content": [], "structuredContent": {"a": [{}] * 300_000}})


def deep(id_: str, token: object) -> None:
    deep = "[" * 100_000 + "]" * 100_000
    write('{"jsonrpc":"2.0","id":' + id_ + ',"result":{"content":' + deep + "}}")


def blocks(id_: str, token: object) -> None:
    answer(id_, {"content": [{"type": "text", "text": "x"}] * 5_000})


def untyped_result(id_: str, token: object) -> None:
    answer(id_, {"content": "no list"})


def refused(id_: str, token: object) -> None:
    error = {"code": -32000, "message": "not \x1btoday " + "z" * 50_000}
    send({"id": json.loads(id_), "error": error})


def asks(id_: str, token: object) -> None:
    """Send a request of the server's own: nobody is there to answer it."""
    params = {"messages": [], "maxTokens": 1}
    send({"id": "mine", "method": "sampling/createMessage", "params": params})
    reply = json.loads(sys.stdin.readline())
    answer(id_, text(json.dumps(reply["error"]["message"])))


def progress(token: object, done: object, total: object = 2, **more: object) -> None:
    params = {"progressToken": token, "progress": done, "total": total, **more}
    send({"method": "notifications/progress", "params": params})


def tokens(id_: str, token: object) -> None:
    for one in ("invented", 99_999, True, None, {"a": 1}, f"{token}x"):
        progress(one, 1, message="not for you")
    progress(token, 1, message="for you")
    for done, total in ((-1, 2), (float("inf"), 2), ("2", 2), (True, 2), (2, "x"), (2, -3)):
        progress(token, done, total)
    send({"method": "notifications/progress", "params": {"progress": 1}})
    send({"method": "notifications/progress"})
    answer(id_, text(json.dumps(token)))
    progress(token, 3, message="after the result")


def flood(id_: str, token: object) -> None:
    for number in range(1_000):
        progress(token, number, 1_000, message="m" * 100)
    for _ in range(300):
        send({"method": "notifications/tools/list_changed"})
    answer(id_, text("done"))


def noise(id_: str, token: object) -> None:
    for number in range(1_000):
        print(f"LOG line {number} {{not json")
    print(json.dumps({"neither": "request nor answer"}))
    print("\n\n" + json.dumps([1, 2]))
    send({"id": 12345, "result": {}})
    answer(id_, text("done"))


def deaf(id_: str, token: object) -> None:
    while True:
        time.sleep(60)


CALLS = {call.__name__: call for call in (
    large, id_at_the_end, objects, deep, blocks, untyped_result, refused, asks, tokens, flood,
    noise, deaf,
)}  # fmt: skip


def answer(id_: str, result: dict) -> None:
    send({"id": json.loads(id_), "result": result})


def main() -> None:
    if SCENARIO == "exit":
        print("no config found", file=sys.stderr)
        sys.exit(4)
    for line in sys.stdin:
        message = json.loads(line)
        method, id_ = message.get("method"), message.get("id")
        if SCENARIO == "mute" or id_ is None:
            continue
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            info = {"name": "raw", "version": "0"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
            send({"id": id_, "result": result})
        elif method == "tools/list":
            send({"id": id_, "result": pages(message.get("params") or {})})
        elif method == "tools/call":
            token = message["params"].get("_meta", {}).get("progressToken")
            if SCENARIO in CALLS:
                CALLS[SCENARIO](json.dumps(id_), token)
            else:
                answer(json.dumps(id_), text("gone"))
        else:
            send({"id": id_, "error": {"code": -32601, "message": "no such method"}})


main()
