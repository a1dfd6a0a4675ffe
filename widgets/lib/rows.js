import { append, h, uniqueId } from "./dom.js";

/** @import { Child } from "./types" */

/**
 * A row that opens: its head is a button, its body is drawn when it is opened.
 *
 * @param {Child} head
 * @param {() => Child} body called at each opening
 * @param {(open: boolean) => void} [changed]
 * @returns {HTMLElement & { toggle: (open?: boolean) => void }}
 */
export function disclosure(head, body, changed = () => {}) {
  const id = uniqueId();
  const button = h(
    "button",
    {
      class: "agt-rowhead",
      type: "button",
      "aria-expanded": "false",
      "aria-controls": id,
      on: { click: () => toggle() },
    },
    h("span", { class: "agt-caret", "aria-hidden": "true" }),
    head,
  );
  const region = h("div", { class: "agt-rowbody", id, hidden: true });
  const element = h("div", { class: "agt-row" }, button, region);
  /** @param {boolean} [open] */
  const toggle = (open = region.hidden === true) => {
    if (open !== region.hidden) return;
    region.hidden = !open;
    button.setAttribute("aria-expanded", String(open));
    region.replaceChildren();
    if (open) append(region, body());
    changed(open);
  };
  return Object.assign(element, { toggle });
}
