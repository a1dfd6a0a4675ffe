import { h } from "./dom.js";

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
  if (text.length > COLOURED) {
    block.append(text);
    return block;
  }
  let done = 0;
  for (const match of text.matchAll(PART)) {
    block.append(text.slice(done, match.index));
    const [whole, string, colon, number] = match;
    const kind = string ? (colon ? "key" : "string") : number ? "number" : "word";
    block.append(h("span", { class: `agt-${kind}` }, string ?? whole), colon ?? "");
    done = match.index + whole.length;
  }
  block.append(text.slice(done));
  return block;
}
