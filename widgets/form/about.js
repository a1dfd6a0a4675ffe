/** What stands around a field: its mark of being required, its fold, what it means. */

/** @import { Field } from "./types" */
import { fill, h, setText } from "../lib/dom.js";

const FOLDED = 180;

/** @param {Field} field */
export function required(field) {
  return field.required
    ? h(
        "span",
        { class: "agt-star", title: "required" },
        "*",
        h("span", { class: "agt-sr" }, "required"),
      )
    : null;
}

export function foldButton() {
  return h("button", {
    class: "agt-fold",
    type: "button",
    "aria-label": "Fold",
    "aria-expanded": "true",
    hidden: true,
  });
}

/** What a field means, its bounds, what is odd about it; long text is folded.
 *
 * @param {Field} field @param {string} id
 */
export function about(field, id) {
  const text = field.about ?? "";
  const words = h("span");
  const box = h(
    "div",
    { class: "agt-about", id },
    field.bounds && h("span", { class: "agt-bounds" }, field.bounds),
    words,
  );
  if (text.length <= FOLDED * 1.3) {
    words.append(text);
  } else {
    const cut = text.slice(0, FOLDED).replace(/\s+\S*$/, "");
    const more = h(
      "button",
      { class: "agt-link", type: "button", "aria-expanded": "false" },
      "more",
    );
    let open = false;
    const draw = () => {
      fill(words, open ? text : `${cut}… `, open ? " " : null, more);
      setText(more, open ? "less" : "more");
      more.setAttribute("aria-expanded", String(open));
    };
    more.addEventListener("click", () => {
      open = !open;
      draw();
      more.focus();
    });
    draw();
  }
  for (const note of field.notes ?? []) box.append(h("div", { class: "agt-remark" }, note));
  box.hidden = !text && !field.bounds && !field.notes?.length;
  return box;
}
