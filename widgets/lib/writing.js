/** Where a person writes: a text area that grows, and what its keys do. */

import { h } from "./dom.js";

const TALLEST = 220;

/**
 * A text area in which Enter sends, Shift+Enter begins a line, and Escape leaves.
 *
 * @param {string} label
 * @param {() => void} enter
 * @param {() => void} leave
 */
export function writing(label, enter, leave) {
  const area = h("textarea", {
    class: "agt-input agt-area",
    rows: "1",
    "aria-label": label,
    placeholder: label,
    on: {
      input: () => grow(),
      keydown: (event) => {
        // A key that chooses among an input method's proposals is not for us.
        if (event.isComposing || event.keyCode === 229) return;
        if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
          event.preventDefault();
          event.stopPropagation();
          enter();
        } else if (event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          leave();
        }
      },
    },
  });
  const grow = () => {
    area.style.height = "auto";
    const wanted = area.scrollHeight + 2;
    area.style.height = `${Math.min(wanted, TALLEST)}px`;
    area.style.overflowY = wanted > TALLEST ? "auto" : "hidden";
  };
  return Object.assign(area, { grow });
}
