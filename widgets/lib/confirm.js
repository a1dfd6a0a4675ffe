import { h } from "./dom.js";

const PATIENCE_MS = 4000;

/**
 * A button for what cannot be undone: the first press asks, the second does it.
 *
 * @param {string} label
 * @param {string} question
 * @param {() => void} action
 * @param {string} [className]
 * @returns {HTMLButtonElement}
 */
export function confirmButton(label, question, action, className = "agt-button agt-small") {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const rest = () => {
    clearTimeout(timer);
    timer = undefined;
    button.textContent = label;
    button.classList.remove("agt-danger");
  };
  const button = h(
    "button",
    {
      class: className,
      type: "button",
      on: {
        blur: rest,
        click: () => {
          if (timer !== undefined) {
            rest();
            action();
            return;
          }
          button.textContent = question;
          button.classList.add("agt-danger");
          timer = setTimeout(rest, PATIENCE_MS);
        },
      },
    },
    label,
  );
  return button;
}
