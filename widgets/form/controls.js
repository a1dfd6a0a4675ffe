/** What edits one value: text, number, boolean, options, JSON text. */

/** @import { Context, Control, Field, Path, Wire } from "./types" */
import { h, setText, uniqueId } from "../lib/dom.js";

/**
 * A field of typed text. What Python echoes never replaces what is being typed: until it has
 * seen the newest edit, the field shows what the user typed.
 *
 * @param {Context} context
 * @param {HTMLInputElement | HTMLTextAreaElement} input
 * @param {(text: string) => number} send
 * @returns {(text: string) => void} shows text that comes from Python
 */
export function typed(context, input, send) {
  let sent = 0;
  let dirty = false;
  const flush = () => {
    if (!dirty) return;
    dirty = false;
    sent = send(input.value);
  };
  input.addEventListener("input", () => {
    dirty = true;
    grow(input);
    context.later(flush);
  });
  input.addEventListener("change", flush);
  return (text) => {
    if (dirty || !context.seen(sent)) return;
    if (input.value !== text) input.value = text;
    grow(input);
  };
}

/** @param {HTMLInputElement | HTMLTextAreaElement} input */
function grow(input) {
  // Where CSS `field-sizing` is not known; there it only sets the least height.
  if (input instanceof HTMLTextAreaElement) {
    input.rows = Math.min(input.value.split("\n").length, 14);
  }
}

/** @param {Field} field @param {Wire} wire @param {boolean} left */
function hint(field, wire, left) {
  if (wire.s === "null") return "null";
  if (wire.s === "text") return "empty text";
  if (left) return "empty text";
  if (field.default === undefined) return "";
  return `default: ${plainDefault(field)}`;
}

/** @param {Field} field */
export function plainDefault(field) {
  const text = field.default ?? "";
  if (!text.startsWith('"')) return text;
  const plain = JSON.parse(text);
  return plain === "" ? '""' : plain;
}

/**
 * Enter must not slip a line end into a text of one line, as a habit from other forms would;
 * Shift+Enter makes one, which the notebook would prevent as a shortcut of its own.
 *
 * @param {KeyboardEvent} event
 */
function newline(event) {
  const area = /** @type {HTMLTextAreaElement} */ (event.target);
  if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
  if (!event.shiftKey && area.value.includes("\n")) return;
  event.preventDefault();
  if (!event.shiftKey) return;
  document.execCommand("insertText", false, "\n"); // what keeps the browser's undo in order
}

/**
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @returns {Control}
 */
export function textControl(context, field, path) {
  const number = field.kind !== "string";
  const input = number
    ? h("input", {
        class: "agt-input agt-mono",
        type: "text",
        inputmode: field.kind === "integer" ? "numeric" : "decimal",
        autocomplete: "off",
        spellcheck: "false",
      })
    : h("textarea", {
        class: "agt-input agt-text",
        rows: 1,
        spellcheck: "false",
        autocomplete: "off",
        title: "Shift+Enter: new line",
        on: {
          keydown: (event) => newline(event),
        },
      });
  const show = typed(context, input, (text) => context.edit("text", path, { text }));
  return {
    el: input,
    input,
    update(wire, pointer) {
      const has = wire.s === "text" || wire.s === "number";
      show(has ? String(wire.x) : "");
      input.placeholder = hint(field, wire, context.left.has(pointer));
    },
    invalid: (on) => mark(input, on),
  };
}

/**
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @returns {Control}
 */
export function booleanControl(context, field, path) {
  const name = uniqueId();
  let sent = 0;
  const radios = [true, false].map((value) =>
    h("input", {
      type: "radio",
      name,
      value: String(value),
      on: {
        change: (event) => {
          if (/** @type {HTMLInputElement} */ (event.target).checked) {
            sent = context.edit("bool", path, { value });
          }
        },
      },
    }),
  );
  const note = h("span", { class: "agt-quiet agt-hint" });
  const el = h(
    "div",
    { class: "agt-choice", role: "radiogroup" },
    radios.map((radio) => h("label", { class: "agt-option" }, radio, h("span", null, radio.value))),
    note,
  );
  return {
    el,
    input: el,
    update(wire) {
      setText(note, wire.s === "bool" ? "" : blank(field, wire));
      if (!context.seen(sent)) return;
      for (const radio of radios) {
        radio.checked = wire.s === "bool" && String(wire.x) === radio.value;
      }
    },
    invalid: (on) => mark(el, on),
  };
}

/**
 * An enum or a constant.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @returns {Control}
 */
export function optionControl(context, field, path) {
  let sent = 0;
  const none = h("option", { value: "" });
  const select = h(
    "select",
    {
      class: "agt-input agt-select",
      on: {
        change: () => {
          const option = Number(select.value);
          sent =
            select.value === ""
              ? context.edit("unset", path, { left: true })
              : context.edit("choose", path, { option });
        },
      },
    },
    none,
    (field.options ?? []).map((option, at) => h("option", { value: String(at) }, option.label)),
  );
  return {
    el: select,
    input: select,
    update(wire) {
      setText(none, blank(field, wire));
      select.classList.toggle("agt-blank", wire.s !== "option");
      if (!context.seen(sent)) return;
      const value = wire.s === "option" ? String(wire.o) : "";
      if (select.value !== value) select.value = value;
    },
    invalid: (on) => mark(select, on),
  };
}

/** @param {Field} field @param {Wire} wire */
function blank(field, wire) {
  if (wire.s === "null") return "null";
  if (field.default !== undefined) return `default: ${plainDefault(field)}`;
  return field.required ? "choose" : "unset";
}

/**
 * A part as JSON text.
 *
 * @param {Context} context
 * @param {Path} path
 * @returns {Control}
 */
export function jsonControl(context, path) {
  const input = h("textarea", {
    class: "agt-input agt-json",
    rows: 1,
    spellcheck: "false",
    autocomplete: "off",
    placeholder: "JSON",
  });
  const show = typed(context, input, (text) => context.edit("json", path, { text }));
  // After the typing, a value that its field can hold goes back to the field.
  input.addEventListener("change", () => context.edit("settle", path));
  return {
    el: input,
    input,
    update(wire) {
      // A field that could not be drawn has JSON text only once it is edited as JSON.
      show(wire.s === "json" ? String(wire.x) : wire.s === "null" ? "null" : "");
    },
    invalid: (on) => mark(input, on),
  };
}

/** @param {Element} element @param {boolean} on */
function mark(element, on) {
  if (on) element.setAttribute("aria-invalid", "true");
  else element.removeAttribute("aria-invalid");
}
