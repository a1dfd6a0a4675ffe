/** A turn's request and response, as they went over the wire. */

/** @import { Message } from "../lib/types" */
import { copyButton } from "../lib/copy.js";
import { h } from "../lib/dom.js";
import { tabs } from "../lib/tabs.js";
import { jsonTree } from "../lib/tree.js";

/** @param {Message} raw @returns {HTMLElement} */
export function rawPanel(raw) {
  const page = (
    /** @type {string} */ text,
    /** @type {string} */ note,
    /** @type {string} */ what,
  ) =>
    h(
      "div",
      { class: "agt-rawpage" },
      copyButton(() => text, what),
      jsonTree(text, { open: 2 }),
      note && h("div", { class: "agt-quiet" }, note),
    );
  return h(
    "div",
    { class: "agt-rawpanel" },
    [raw.note, ...(raw.notes ?? [])]
      .filter(Boolean)
      .map((note) => h("div", { class: "agt-quiet agt-rawnote" }, note)),
    tabs("What went over the wire", [
      {
        id: "request",
        title: "Request",
        body: () => page(raw.request, raw.request_note, "request"),
      },
      {
        id: "response",
        title: "Response",
        body: () => page(raw.response, raw.response_note, "response"),
      },
    ]).el,
  );
}
