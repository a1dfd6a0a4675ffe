import { h } from "./dom.js";

/**
 * A button that copies text and says that it did.
 *
 * @param {() => string} text
 * @param {string} [what] for screen readers: "Copy <what>"
 * @returns {HTMLButtonElement}
 */
export function copyButton(text, what = "") {
  const label = h("span", { "aria-live": "polite" }, "Copy");
  const button = h(
    "button",
    {
      class: "agt-button agt-small",
      type: "button",
      "aria-label": what ? `Copy ${what}` : null,
      on: {
        click: async () => {
          label.textContent = (await copy(text())) ? "Copied" : "Press Ctrl+C";
          setTimeout(() => {
            label.textContent = "Copy";
          }, 1600);
        },
      },
    },
    label,
  );
  return button;
}

/**
 * @param {string} text
 * @returns {Promise<boolean>}
 */
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard API on plain http, except for localhost: the old way still works there.
    const area = h("textarea", { value: text, style: { position: "fixed", opacity: "0" } });
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}
