/** Editing one value as JSON text. What was typed stays until it is saved or given up. */

import { fill, h, setText } from "../lib/dom.js";

/**
 * @typedef {object} Editor
 * @property {HTMLElement} el
 * @property {(text: string, note: string, same: boolean) => void} loaded the whole value came
 * @property {(fault: string) => void} refused
 * @property {() => void} changedMeanwhile
 */

/**
 * @param {{
 *   key: string | null,
 *   save: (key: string, text: string) => void,
 *   close: () => void,
 * }} options `key`: null for a new one
 * @returns {Editor}
 */
export function editor({ key, save, close }) {
  const name =
    key === null
      ? h("input", { class: "agt-input", placeholder: "key", "aria-label": "Key" })
      : null;
  const area = h("textarea", {
    class: "agt-input",
    rows: 3,
    spellcheck: "false",
    "aria-label": key === null ? "Value as JSON" : `Value of ${key} as JSON`,
    placeholder: key === null ? 'value as JSON: 3, "text", [1, 2]' : "Loading…",
    disabled: key !== null,
    on: {
      keydown: (event) => {
        if (event.key === "Escape") close();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
        else return;
        event.preventDefault();
        event.stopPropagation();
      },
    },
  });
  const fault = h("div", { class: "agt-fault", role: "alert", hidden: true });
  const remark = h("div", { class: "agt-quiet agt-note" });
  const saveButton = h(
    "button",
    {
      class: "agt-button agt-small agt-primary",
      type: "button",
      disabled: key !== null,
      on: { click: () => submit() },
    },
    "Save",
  );
  const submit = () => {
    if (saveButton.disabled) return;
    fault.hidden = true;
    save(key ?? name?.value ?? "", area.value);
  };
  const el = h(
    "div",
    { class: "agt-editor" },
    name,
    area,
    fault,
    remark,
    h(
      "div",
      { class: "agt-actions" },
      saveButton,
      h(
        "button",
        { class: "agt-button agt-small", type: "button", on: { click: close } },
        "Cancel",
      ),
      h("span", { class: "agt-quiet agt-hint" }, "Ctrl+Enter saves, Esc cancels"),
    ),
  );
  return {
    el,
    loaded(text, note, same) {
      if (!area.disabled) return;
      area.placeholder = "";
      area.value = text;
      if (note) {
        fill(remark, `Too large to edit here: ${note}.`);
        area.readOnly = true;
        area.disabled = false;
        return;
      }
      area.disabled = saveButton.disabled = false;
      area.rows = Math.min(16, Math.max(2, text.split("\n").length));
      if (!same) {
        fill(remark, "Not plain JSON in Python: saving stores this JSON form instead.");
      }
      area.focus();
    },
    refused(text) {
      setText(fault, text);
      fault.hidden = false;
      area.focus();
    },
    changedMeanwhile() {
      fill(remark, "The value has changed since you began; saving replaces it.");
    },
  };
}
