/** A JSON value as a tree that opens on demand, however large it is. */

/** @import { JsonNode } from "./types" */
import { fill, h } from "./dom.js";
import { brief, parseJson } from "./json.js";

const CHUNK = 100;
const LONG_TEXT = 600;

/**
 * Draw JSON text. Text that is not JSON is shown as it is.
 *
 * @param {string} text
 * @param {{ open?: number }} [options] `open`: how many levels start open, default 1
 * @returns {HTMLElement}
 */
export function jsonTree(text, options = {}) {
  /** @type {JsonNode} */
  let node;
  try {
    node = parseJson(text);
  } catch {
    return h("div", { class: "agt-tree" }, longText(text, "agt-plain"));
  }
  return h("div", { class: "agt-tree" }, branch(null, node, options.open ?? 1));
}

/**
 * @param {string | null} name
 * @param {JsonNode} node
 * @param {number} open levels
 * @returns {HTMLElement}
 */
function branch(name, node, open) {
  const label =
    name === null ? null : [h("span", { class: "agt-key" }, name === "" ? '""' : name), ": "];
  if (node.kind !== "object" && node.kind !== "array") {
    return h("div", { class: "agt-leaf" }, label, leaf(node));
  }
  const count = node.kind === "object" ? node.entries.length : node.items.length;
  if (count === 0) {
    const empty = node.kind === "object" ? "{}" : "[]";
    return h("div", { class: "agt-leaf" }, label, h("span", { class: "agt-quiet" }, empty));
  }
  const size = node.kind === "object" ? `{${count}}` : `[${count}]`;
  const body = h("div", { class: "agt-children" });
  const more = (/** @type {number} */ from) => {
    const upto = Math.min(count, from + CHUNK);
    for (let index = from; index < upto; index += 1) {
      const [key, child] =
        node.kind === "object"
          ? /** @type {[string, JsonNode]} */ (node.entries[index])
          : /** @type {[string, JsonNode]} */ ([String(index), node.items[index]]);
      body.append(branch(key, child, open - 1));
    }
    if (upto < count) {
      const button = h(
        "button",
        {
          class: "agt-link",
          type: "button",
          on: {
            click: () => {
              button.remove();
              more(upto);
            },
          },
        },
        `Show ${Math.min(CHUNK, count - upto)} more of ${count - upto}`,
      );
      body.append(button);
    }
  };
  const details = h(
    "details",
    { class: "agt-branch" },
    h(
      "summary",
      null,
      label,
      h("span", { class: "agt-quiet agt-size" }, size),
      h("span", { class: "agt-preview" }, brief(node, 70)),
    ),
    body,
  );
  const draw = () => {
    if (details.open && !body.hasChildNodes()) more(0);
  };
  details.addEventListener("toggle", draw);
  if (open > 0) {
    details.open = true;
    draw();
  }
  return details;
}

/**
 * @param {Exclude<JsonNode, { kind: "object" | "array" }>} node
 * @returns {HTMLElement}
 */
function leaf(node) {
  if (node.kind !== "string") return h("span", { class: `agt-${node.kind}` }, node.text);
  if (node.text.includes("\n")) return longText(node.text, "agt-string agt-plain");
  return longText(JSON.stringify(node.text), "agt-string");
}

/**
 * Text of any length: what is beyond the first few lines is folded.
 *
 * @param {string} text
 * @param {string} [className]
 * @returns {HTMLElement}
 */
export function longText(text, className = "agt-plain") {
  const span = h("span", { class: className });
  if (text.length <= LONG_TEXT * 1.5) {
    span.append(text);
    return span;
  }
  fill(
    span,
    text.slice(0, LONG_TEXT),
    "… ",
    h(
      "button",
      { class: "agt-link", type: "button", on: { click: () => fill(span, text) } },
      `Show all ${text.length.toLocaleString("en")} characters`,
    ),
  );
  return span;
}
