/** Saying something else in place of an earlier message. */

import { h } from "../lib/dom.js";
import { writing } from "../lib/writing.js";

/**
 * @param {string} text
 * @param {(text: string) => void} send
 * @param {() => void} cancel
 */
export function editor(text, send, cancel) {
  const enter = () => {
    if (area.value.trim()) send(area.value);
  };
  const area = writing("Say this instead", enter, cancel);
  area.value = text;
  const el = h(
    "div",
    { class: "agt-editor" },
    area,
    h(
      "div",
      { class: "agt-editortools" },
      h("span", { class: "agt-quiet" }, "What came after it stays as another version."),
      h("span", { class: "agt-grow" }),
      h(
        "button",
        { class: "agt-button agt-small", type: "button", on: { click: cancel } },
        "Cancel",
      ),
      h(
        "button",
        { class: "agt-button agt-small agt-primary", type: "button", on: { click: enter } },
        "Send again",
      ),
    ),
  );
  requestAnimationFrame(() => area.grow());
  return el;
}
