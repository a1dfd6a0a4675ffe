import assert from "node:assert/strict";
import { test } from "node:test";

/** Enough of a document for elements with text. */
class Node {
  /** @type {string[]} */
  children = [];
  /** @param {string} child */
  append(child) {
    this.children.push(child);
  }
  setAttribute() {}
}

const globals = /** @type {any} */ (globalThis);
globals.Node = Node;
globals.document = { createElement: () => new Node() };
const { seen } = await import("./unseen.js");

/** @param {string} text */
const words = (text) =>
  seen(text).map((part) =>
    typeof part === "string" ? part : `<${/** @type {any} */ (part).children.join("")}>`,
  );

test("what turns the line round or is drawn as nothing is written out", () => {
  assert.deepEqual(words("rm \u202egnp.txt"), ["rm ", "<U+202E>", "gnp.txt"]);
  assert.deepEqual(words("a\u200bb\u0000"), ["a", "<U+200B>", "b", "<U+0000>"]);
  assert.deepEqual(words("\u{e0041}"), ["<U+E0041>"]);
});

test("ordinary text of any script stays whole", () => {
  for (const text of ["", "git push\n\torigin", "Grüße, 東京, عربى, हिन्दी, 👍"]) {
    assert.deepEqual(words(text).join(""), text);
  }
});
