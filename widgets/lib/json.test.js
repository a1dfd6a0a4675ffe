import assert from "node:assert/strict";
import { test } from "node:test";
import { brief, parseJson } from "./json.js";

/** @param {any} node back to what JSON.parse gives */
function plain(node) {
  if (node.kind === "object") {
    return Object.fromEntries(node.entries.map(([key, value]) => [key, plain(value)]));
  }
  if (node.kind === "array") return node.items.map(plain);
  return node.kind === "string" ? node.text : JSON.parse(node.text);
}

test("reads what JSON.parse reads", () => {
  const texts = [
    "null",
    " true ",
    '""',
    "-0.5e+10",
    "[]",
    "{}",
    '[1, [2, {"a": []}], {}]',
    '{"a": {"b": [null, "\\u00e9\\n\\"\\\\"]}, "": 1, "__proto__x": 2}',
    '["a]", "{", ",:"]',
  ];
  for (const text of texts) assert.deepEqual(plain(parseJson(text)), JSON.parse(text), text);
});

test("keeps every digit", () => {
  assert.deepEqual(parseJson("9007199254740993"), { kind: "number", text: "9007199254740993" });
  assert.equal(brief(parseJson("[1.10, 1e400]")), "[1.10, 1e400]");
});

test("refuses what is not JSON", () => {
  for (const text of [
    "",
    "{",
    "[1,]",
    "[1 2]",
    '{"a"}',
    "{1: 2}",
    "tru",
    "1 2",
    "]",
    "NaN",
    "[}",
  ]) {
    assert.throws(() => parseJson(text), SyntaxError, text);
  }
});

test("nesting costs no stack", () => {
  const deep = "[".repeat(100_000) + "]".repeat(100_000);
  assert.equal(parseJson(deep).kind, "array");
});

test("long text costs no stack", () => {
  const text = "x".repeat(5_000_000);
  assert.equal(/** @type {any} */ (parseJson(JSON.stringify(text))).text, text);
});

test("brief is short", () => {
  const long = brief(parseJson(JSON.stringify({ a: "x".repeat(500), b: [1, 2, 3], c: {} })), 40);
  assert.ok(long.length < 90, long);
});
