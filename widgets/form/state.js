/** Which state a place is in (unset, null, empty, set, JSON), and which branch of a union. */

/** @import { Context, Field, Part, Path, Wire } from "./types" */
import { fill, h } from "../lib/dom.js";
import { plainDefault } from "./controls.js";

/** What is unset or null shows the first branch, unless one was chosen.
 *
 * @param {Wire} wire
 */
export const branchOf = (wire) => wire.b ?? (wire.s === "unset" || wire.s === "null" ? 0 : -1);

/**
 * A union's type switch.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @param {string} label
 * @returns {Part | null}
 */
export function branchSelect(context, field, path, label) {
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
export function stateSelect(context, field, path, label) {
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
