import { h } from "./dom.js";
import { longText } from "./tree.js";

/**
 * Text in paragraphs, as docstrings are written: a blank line parts them.
 *
 * @param {string} text
 * @returns {HTMLElement | null}
 */
export function prose(text) {
  const parts = text.split(/\n\s*\n/).filter((part) => part.trim());
  if (parts.length === 0) return null;
  return h(
    "div",
    { class: "agt-prose" },
    parts.map((part) => h("p", null, longText(part.trim()))),
  );
}
