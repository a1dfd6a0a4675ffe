/** One place of the arguments: its name, what edits it, its state, what it means, its faults. */

/** @import { Context, Control, Fault, Field, Part, Path, Wire } from "./types" */
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import {
  booleanControl,
  jsonControl,
  optionControl,
  plainDefault,
  textControl,
} from "./controls.js";
import { arrayControl, objectControl } from "./groups.js";

const FOLDED = 180;

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

/** What is unset or null shows the first branch, unless one was chosen.
 *
 * @param {Wire} wire
 */
const branchOf = (wire) => wire.b ?? (wire.s === "unset" || wire.s === "null" ? 0 : -1);

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

/**
 * A union's type switch.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @param {string} label
 * @returns {Part | null}
 */
function branchSelect(context, field, path, label) {
  const branches = field.branches;
  if (!branches) return null;
  let sent = 0;
  let shown = "";
  const select = h(
    "select",
    {
      class: "agt-input agt-select agt-switch",
      "aria-label": `type of ${label}`,
      on: {
        change: () => {
          if (select.value !== shown)
            sent = context.edit("branch", path, { branch: Number(select.value) });
        },
      },
    },
    branches.map((branch, at) => h("option", { value: String(at) }, branch.label ?? "")),
  );
  return {
    el: select,
    update(wire) {
      if (!context.seen(sent)) return;
      shown = String(branchOf(wire));
      select.hidden = wire.s === "json";
      if (select.value !== shown) select.value = shown;
    },
  };
}

/**
 * Which of unset, null, empty and set a place is, and the way to make it another.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @param {string} label
 */
function stateSelect(context, field, path, label) {
  let now = "";
  const el = h("select", {
    class: "agt-state",
    "aria-label": `state of ${label}`,
    on: {
      change: () => {
        const wanted = el.value;
        if (wanted === now) return;
        context.edit(wanted === "left" ? "unset" : wanted, path);
        el.value = now; // until Python says so
      },
    },
  });
  let listed = "";
  return {
    el,
    /** @param {Wire} wire @param {string} pointer @param {Field} shown */
    update(wire, pointer, shown) {
      now = stateOf(wire, context.left.has(pointer));
      const states = statesOf(shown, wire, now);
      const list = JSON.stringify(states);
      if (list !== listed) {
        listed = list;
        fill(
          el,
          states.map(([value, text]) => h("option", { value }, text)),
        );
      }
      if (el.value !== now) el.value = now;
      el.dataset.now = now;
      el.title = field.default === undefined ? "" : `default: ${plainDefault(field)}`;
    },
  };
}

/** @param {Wire} wire @param {boolean} left */
function stateOf(wire, left) {
  if (wire.s === "unset") return left ? "left" : "unset";
  if (wire.s === "null") return "null";
  if (wire.s === "json") return "as_json";
  return wire.s === "text" && wire.x === "" ? "empty" : "value";
}

/** @param {Field} field @param {Wire} wire @param {string} now @returns {[string, string][]} */
function statesOf(field, wire, now) {
  /** @type {[string, string][]} */
  const states = [["unset", "unset"]];
  if (now === "left") states.push(["left", "left empty"]);
  if (field.nullable || now === "null") states.push(["null", "null"]);
  if (field.kind === "string") states.push(["empty", "empty text"]);
  if (now === "value") states.push(["value", "set"]);
  else if (wire.s === "json" && field.kind !== "json" && !wire.odd)
    states.push(["value", "as fields"]);
  else if (field.kind === "object") states.push(["value", "{ } object"]);
  else if (field.kind === "array") states.push(["value", "[ ] array"]);
  if (field.default !== undefined) states.push(["default", "use default"]);
  states.push(["as_json", "JSON"]);
  return states;
}

/** @param {Field} field */
function required(field) {
  return field.required
    ? h(
        "span",
        { class: "agt-star", title: "required" },
        "*",
        h("span", { class: "agt-sr" }, "required"),
      )
    : null;
}

function foldButton() {
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
function about(field, id) {
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
