/** What a row shows when it is open. */

/** @import { Detail } from "./types" */
import { copyButton } from "../lib/copy.js";
import { h } from "../lib/dom.js";
import { jsonTree, longText } from "../lib/tree.js";

/** @param {Detail} detail */
export function detailOf({ facts, parts }) {
  return h(
    "div",
    { class: "agt-detail" },
    parts.map(({ title, json, text, note }) =>
      h(
        "div",
        { class: "agt-part" },
        h("div", { class: "agt-label" }, title),
        h(
          "div",
          { class: "agt-value" },
          json === undefined
            ? h("div", { class: "agt-mono agt-errortext" }, longText(text ?? ""))
            : jsonTree(json, { open: 2 }),
          note && h("div", { class: "agt-quiet agt-note" }, note),
        ),
        copyButton(() => json ?? text ?? "", title),
      ),
    ),
    h(
      "dl",
      { class: "agt-facts" },
      facts.map(([name, text, hint]) =>
        h(
          "div",
          hint ? { title: hint, class: "agt-hinted" } : null,
          h("dt", null, name),
          h("dd", hint ? null : { class: "agt-mono" }, text),
        ),
      ),
    ),
  );
}
