import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "./terminal.js";

test("colours and titles are left out", () => {
  assert.equal(plain("\u001b[1;31mred\u001b[0m \u001b]0;title\u0007end"), "red end");
});

test("of a line that is written again only the last form stays", () => {
  assert.equal(plain("a\n10 %\r20 %\r30 %\nb"), "a\n30 %\nb");
  assert.equal(plain("one\r\ntwo\r\n"), "one\ntwo\n");
});

test("what may still be written again stays as it is", () => {
  assert.equal(plain("10 %\r").trim(), "10 %");
});

test("long text takes little time", () => {
  const text = `${"x".repeat(200_000)}\u001b[`;
  assert.equal(plain(text).length, text.length);
  assert.equal(plain("y\r".repeat(50_000)).trim(), "y");
});
