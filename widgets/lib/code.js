/** @import { Child } from "./types" */
import { append, h } from "./dom.js";

const PART = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;
const COLOURED = 60_000;

/**
 * A block of JSON text as it is, its parts coloured.
 *
 * @param {string} text
 * @returns {HTMLElement}
 */
export function jsonCode(text) {
  const block = h("pre", { class: "agt-pre agt-code", tabindex: "0" });
  append(block, text.length > COLOURED ? text : coloured(text));
  return block;
}

/**
 * JSON text as it is, its parts coloured.
 *
 * @param {string} text
 * @param {(part: string) => Child} [shown] how a text in it is shown
 * @returns {Child[]}
 */
export function coloured(text, shown = (part) => part) {
  /** @type {Child[]} */
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(PART)) {
    parts.push(text.slice(done, match.index));
    const [whole, string, colon, number] = match;
    const kind = string ? (colon ? "key" : "string") : number ? "number" : "word";
    parts.push(h("span", { class: `agt-${kind}` }, shown(string ?? whole)), colon);
    done = match.index + whole.length;
  }
  parts.push(text.slice(done));
  return parts;
}
