/** One place of the arguments: its name, what edits it, its state, what it means, its faults. */

/** @import { Context, Control, Fault, Field, Part, Path, Wire } from "./types" */
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { about, foldButton, required } from "./about.js";
import { booleanControl, jsonControl, optionControl, textControl } from "./controls.js";
import { arrayControl, objectControl } from "./groups.js";
import { branchOf, branchSelect, stateSelect } from "./state.js";

/**
 * @typedef {object} RowOptions
 * @property {number} depth
 * @property {() => import("./types").Step[]} path
 * @property {HTMLElement} [name] what stands in place of the name
 * @property {HTMLElement} [tools] buttons for the place itself: move, remove
 * @property {string} [label] for screen readers, if there is no name
 */

/**
 * @param {Context} context
 * @param {Field} given
 * @param {RowOptions} options
 * @returns {Part}
 */
export function row(context, given, options) {
  try {
    return wholeRow(context, given, options);
  } catch (error) {
    // One field that cannot be drawn is edited as JSON; the others stay what they are.
    console.error(error);
    /** @type {Field} */
    const plain = { kind: "json", type: "JSON" };
    if (given.title !== undefined) plain.title = given.title;
    return wholeRow(context, plain, options);
  }
}

/**
 * @param {Context} context
 * @param {Field} given
 * @param {RowOptions} options
 * @returns {Part}
 */
function wholeRow(context, given, options) {
  const field = context.resolve(given);
  const { path, depth } = options;
  const id = uniqueId();
  const label = field.title ?? options.label ?? "";
  const name =
    options.name ??
    h("label", { class: "agt-name agt-mono", for: id }, label === "" ? '""' : label);
  const fold = foldButton();
  const kind = h("span", { class: "agt-kind" });
  const line = h("div", { class: "agt-line" });
  const below = h("div", { class: "agt-below", hidden: true });
  const state = stateSelect(context, field, path, label);
  const faults = h("div", { class: "agt-faults", id: `${id}-faults` });
  const help = about(field, `${id}-about`);
  const el = h(
    "div",
    { class: "agt-field", style: { "--agt-depth": String(depth) } },
    h("div", { class: "agt-fieldhead" }, fold, name, required(field), kind),
    h(
      "div",
      { class: "agt-cell" },
      h("div", { class: "agt-bar" }, line, state.el, options.tools),
      help,
      faults,
    ),
    below,
  );
  fold.addEventListener("click", () => {
    const open = fold.getAttribute("aria-expanded") !== "true";
    fold.setAttribute("aria-expanded", String(open));
    below.hidden = !open;
  });

  /** @type {Control | undefined} */
  let control;
  let drawn = "";
  let refocus = false; // what had the focus was replaced

  /** @param {Field} shown @param {Wire} wire */
  const build = (shown, wire) => {
    const focused = line.contains(document.activeElement) || below.contains(document.activeElement);
    try {
      control = controlOf(context, shown, wire, path, depth);
    } catch (error) {
      console.error(error);
      control = jsonControl(context, path);
    }
    fill(line, control.head ?? (control.block ? null : control.el));
    fill(below, control.block ? control.el : null);
    fold.hidden = !control.block;
    below.hidden = !control.block;
    fold.setAttribute("aria-expanded", "true");
    el.classList.toggle("agt-group", !!control.block);
    if (focused) refocus = true;
    if (control.input) {
      control.input.id = id;
      control.input.setAttribute("aria-describedby", `${id}-about ${id}-faults`);
      // A label points only to what can be labelled; anything else is told its name.
      const button = control.input instanceof HTMLButtonElement;
      const spoken = button ? `${control.input.textContent}: ${label}` : label;
      if (label) control.input.setAttribute("aria-label", spoken);
      if (field.required) control.input.setAttribute("aria-required", "true");
    }
  };

  const branches = branchSelect(context, field, path, label);
  if (branches) el.querySelector(".agt-bar")?.prepend(branches.el);

  return {
    el,
    update(wire, pointer) {
      const shown = shownField(context, field, wire);
      const now = `${wire.s === "json" ? "json" : shown.kind}:${field.branches ? branchOf(wire) : ""}:${opens(shown, wire, depth)}`;
      if (now !== drawn) {
        drawn = now;
        build(shown, wire);
      }
      try {
        control?.update(wire, pointer);
      } catch (error) {
        console.error(error);
        control = jsonControl(context, path);
        fill(line, control.el);
        fill(below);
        below.hidden = true;
        if (wire.s !== "json") context.edit("as_json", path);
      }
      if (refocus) {
        refocus = false;
        const part = control?.block ? below : line;
        /** @type {HTMLElement | null} */
        const next =
          part.querySelector("input, textarea, select:not(.agt-state)") ??
          part.querySelector("button:not(.agt-fold)");
        next?.focus();
      }
      branches?.update(wire, pointer);
      state.update(wire, pointer, shown);
      setText(kind, shown.type ?? "");
      el.dataset.state = wire.s;
      context.places.set(pointer, {
        faults(found) {
          const loud = found.filter((fault) => !fault.quiet);
          el.classList.toggle("agt-faulty", loud.length > 0);
          el.classList.toggle("agt-needed", found.length > loud.length);
          control?.invalid?.(loud.length > 0);
          const text = loud.map((fault) => fault.text).join("\n");
          if (faults.textContent !== text) setText(faults, text);
        },
      });
      const refused = /** @param {string} text */ (text) => setText(faults, text);
      context.refusals.set(JSON.stringify(path()), refused);
    },
  };
}

/** The field whose control is shown: a union's branch, with what the union says of its place.
 *
 * @param {Context} context @param {Field} field @param {Wire} wire
 */
function shownField(context, field, wire) {
  const branch = field.branches?.[branchOf(wire)];
  if (!branch) return field;
  const { required: needed, title } = field;
  /** @type {Field} */
  const shown = { ...context.resolve(branch) };
  if (needed) shown.required = needed;
  if (title !== undefined) shown.title = title;
  if (field.default !== undefined) shown.default = field.default;
  else delete shown.default;
  if (field.nullable) shown.nullable = true;
  return shown;
}

/** Whether a part opens without being asked: what is set, and what is required and not too deep.
 *
 * @param {Field} field @param {Wire} wire @param {number} depth
 */
function opens(field, wire, depth) {
  if (field.kind !== "object") return wire.s === "array";
  return wire.s === "object" || (wire.s === "unset" && !!field.required && depth < 4);
}

/**
 * @param {Context} context
 * @param {Field} field
 * @param {Wire} wire
 * @param {Path} path
 * @param {number} depth
 * @returns {Control}
 */
function controlOf(context, field, wire, path, depth) {
  if (wire.s === "json") return jsonControl(context, path);
  switch (field.kind) {
    case "string":
    case "integer":
    case "number":
      return textControl(context, field, path);
    case "boolean":
      return booleanControl(context, field, path);
    case "enum":
    case "const":
      return optionControl(context, field, path);
    case "object":
      if (opens(field, wire, depth)) return objectControl(context, field, path, depth, row);
      return opener("Add", () => context.edit("value", path), wire);
    case "array":
      if (opens(field, wire, depth)) return arrayControl(context, field, path, depth, row);
      return opener("Add item", () => context.edit("add", path), wire);
    default:
      return jsonControl(context, path);
  }
}

/** @param {string} text @param {() => void} open @param {Wire} wire @returns {Control} */
function opener(text, open, wire) {
  const button = h(
    "button",
    { class: "agt-button agt-small", type: "button", on: { click: open } },
    text,
  );
  const note = h("span", { class: "agt-quiet agt-hint" }, wire.s === "null" ? "null" : "");
  const el = h("div", { class: "agt-choice" }, button, note);
  return {
    el,
    input: button,
    update(now) {
      setText(note, now.s === "null" ? "null" : "");
    },
  };
}

/** @param {Map<string, import("./types").Place>} places @param {Fault[]} faults */
export function deliver(places, faults) {
  /** @type {Map<string, Fault[]>} */
  const sorted = new Map();
  const homeless = [];
  for (const fault of faults) {
    let at = fault.at;
    while (at && !places.has(at)) at = at.slice(0, at.lastIndexOf("/"));
    if (!places.has(at)) homeless.push(fault);
    else
      sorted.set(at, [
        ...(sorted.get(at) ?? []),
        at === fault.at ? fault : { ...fault, text: `${fault.at}: ${fault.text}` },
      ]);
  }
  for (const [at, place] of places) place.faults(sorted.get(at) ?? []);
  return homeless;
}
