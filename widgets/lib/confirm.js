import { h } from "./dom.js";

/**
 * A button for what cannot be undone: the first press asks, the second does it. It asks until
 * something else is done, or Escape is pressed.
 *
 * @param {string} label
 * @param {string} question
 * @param {() => void} action
 * @param {string} [className]
 * @returns {HTMLButtonElement}
 */
export function confirmButton(label, question, action, className = "agt-button agt-small") {
  let asks = false;
  const rest = () => {
    asks = false;
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
        keydown: (event) => {
          if (event.key === "Escape") rest();
        },
        click: () => {
          if (asks) {
            rest();
            action();
            return;
          }
          asks = true;
          button.textContent = question;
          button.classList.add("agt-danger");
          // Not every browser gives the focus to a button that is clicked.
          button.focus();
        },
      },
    },
    label,
  );
  return button;
}
