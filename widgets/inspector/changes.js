/** What differs between two states: a line a place. */

/** @import { Change, Changes } from "./types" */
import { h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { jsonTree } from "../lib/tree.js";

const KINDS = { added: "+", removed: "−", changed: "~" };

/** @param {Change} change */
function kindOf(change) {
  if (change.before === null) return "added";
  return change.after === null ? "removed" : "changed";
}

/** @param {Change} change */
function line(change) {
  const kind = kindOf(change);
  return h(
    "li",
    { class: `agt-change agt-${kind}` },
    h("span", { class: "agt-sign", title: kind, "aria-hidden": "true" }, KINDS[kind]),
    h("span", { class: "agt-sr" }, kind),
    h("span", { class: "agt-mono agt-place" }, change.pointer.slice(1) || "(everything)"),
    h(
      "div",
      { class: "agt-sides" },
      change.before !== null &&
        h("div", { class: "agt-before" }, jsonTree(change.before, { open: 0 })),
      kind === "changed" && h("span", { class: "agt-quiet", "aria-label": "became" }, "→"),
      change.after !== null &&
        h("div", { class: "agt-after" }, jsonTree(change.after, { open: 0 })),
    ),
  );
}

/**
 * @param {Changes} found
 * @param {string} none what to say when nothing differs
 * @returns {HTMLElement}
 */
export function changeList({ changes, more_changes }, none) {
  if (changes.length === 0) return h("div", { class: "agt-quiet agt-nochange" }, none);
  return h(
    "div",
    null,
    h("ul", { class: "agt-changes" }, changes.map(line)),
    more_changes > 0 &&
      h("div", { class: "agt-quiet agt-note" }, `and ${plural(more_changes, "more change")}`),
  );
}

/**
 * The keys that changes touch.
 *
 * @param {Change[]} changes
 * @returns {Set<string>}
 */
export function keysOf(changes) {
  const names = changes.map(({ pointer }) => pointer.split("/")[1] ?? "");
  return new Set(names.map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")));
}
