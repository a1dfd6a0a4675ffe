/** A JSON value as a tree that opens on demand, however large it is. */

/** @import { JsonNode } from "./types" */
import { fill, h } from "./dom.js";
import { brief, parseJson } from "./json.js";
import { seen } from "./unseen.js";

const CHUNK = 100;
const LONG_TEXT = 600;

/**
 * @typedef {object} TreeOptions
 * @property {number} [open] how many levels start open, default 1
 * @property {Map<string, boolean>} [memory] JSON Pointers that were opened or closed by hand; keep
 *   it to draw a changed value with the same branches open
 * @property {ReadonlyMap<string, string>} [marks] JSON Pointers to highlight, with a remark
 * @property {boolean} [seen] write out characters that are not seen
 */

/**
 * Draw JSON text. Text that is not JSON is shown as it is.
 *
 * @param {string} text
 * @param {TreeOptions} [options]
 * @returns {HTMLElement}
 */
export function jsonTree(text, options = {}) {
  /** @type {JsonNode} */
  let node;
  try {
    node = parseJson(text);
  } catch {
    return h("div", { class: "agt-tree" }, longText(text, "agt-plain", options.seen));
  }
  return h("div", { class: "agt-tree" }, branch(null, "", node, options.open ?? 1, options));
}

/**
 * @param {string | null} name
 * @param {string} pointer
 * @param {JsonNode} node
 * @param {number} open levels
 * @param {TreeOptions} options
 * @returns {HTMLElement}
 */
function branch(name, pointer, node, open, options) {
  const shown = (/** @type {string} */ text) => (options.seen ? seen(text) : text);
  const label =
    name === null
      ? null
      : [h("span", { class: "agt-key" }, name === "" ? '""' : shown(name)), ": "];
  const mark = options.marks?.get(pointer);
  const remark = mark ? h("span", { class: "agt-remark" }, mark) : null;
  const marked = mark === undefined ? "" : " agt-marked";
  if (node.kind !== "object" && node.kind !== "array") {
    return h("div", { class: `agt-leaf${marked}` }, label, leaf(node, options.seen), remark);
  }
  const count = node.kind === "object" ? node.entries.length : node.items.length;
  if (count === 0) {
    const empty = node.kind === "object" ? "{}" : "[]";
    const value = h("span", { class: "agt-quiet" }, empty);
    return h("div", { class: `agt-leaf${marked}` }, label, value, remark);
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
      const place = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
      body.append(branch(key, place, child, open - 1, options));
    }
    if (upto < count) body.append(moreButton(count - upto, () => more(upto)));
  };
  const details = h(
    "details",
    { class: `agt-branch${marked}`, open: options.memory?.get(pointer) ?? open > 0 },
    h(
      "summary",
      {
        // Not on "toggle": that also fires for the branches that are drawn open.
        on: { click: () => options.memory?.set(pointer, !details.open) },
      },
      label,
      h("span", { class: "agt-quiet agt-size" }, size),
      h("span", { class: "agt-preview" }, shown(brief(node, 70))),
      remark,
    ),
    body,
  );
  const draw = () => {
    if (details.open && !body.hasChildNodes()) more(0);
  };
  details.addEventListener("toggle", draw);
  draw();
  return details;
}

/**
 * @param {number} left
 * @param {() => void} more
 */
function moreButton(left, more) {
  const button = h(
    "button",
    {
      class: "agt-link",
      type: "button",
      on: {
        click: () => {
          button.remove();
          more();
        },
      },
    },
    `Show ${Math.min(CHUNK, left)} more of ${left.toLocaleString("en")}`,
  );
  return button;
}

/**
 * @param {Exclude<JsonNode, { kind: "object" | "array" }>} node
 * @param {boolean} [reveal]
 * @returns {HTMLElement}
 */
function leaf(node, reveal) {
  if (node.kind !== "string") return h("span", { class: `agt-${node.kind}` }, node.text);
  if (node.text.includes("\n")) return longText(node.text, "agt-string agt-plain", reveal);
  return longText(JSON.stringify(node.text), "agt-string", reveal);
}

/**
 * Text of any length: what is beyond the first few lines is folded.
 *
 * @param {string} text
 * @param {string} [className]
 * @param {boolean} [reveal] write out characters that are not seen
 * @returns {HTMLElement}
 */
export function longText(text, className = "agt-plain", reveal = false) {
  const span = h("span", { class: className });
  const shown = (/** @type {string} */ part) => (reveal ? seen(part) : part);
  if (text.length <= LONG_TEXT * 1.5) {
    fill(span, shown(text));
    return span;
  }
  fill(
    span,
    shown(text.slice(0, LONG_TEXT)),
    "… ",
    h(
      "button",
      { class: "agt-link", type: "button", on: { click: () => fill(span, shown(text)) } },
      `Show all ${text.length.toLocaleString("en")} characters`,
    ),
  );
  return span;
}
