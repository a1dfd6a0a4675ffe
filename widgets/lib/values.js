/** One argument's value, for a person who decides: whole, in place, and nothing in it unseen. */

import { coloured } from "./code.js";
import { h } from "./dom.js";
import { jsonTree } from "./tree.js";
import { seen } from "./unseen.js";

const ONE_LINE = 120;

/**
 * @param {string} json JSON text
 * @returns {HTMLElement}
 */
export function argumentValue(json) {
  const container = json.startsWith("{") || json.startsWith("[");
  if (container && json.length <= ONE_LINE)
    return h("span", { class: "agt-mono" }, coloured(json, seen));
  return jsonTree(json, { open: 2, seen: true });
}
