/** Objects and arrays: rows within a row. */

/** @import { Context, Control, Field, Path, Wire } from "./types" */
/** @import { row } from "./row.js" */
import { fill, h, keyed, setText } from "../lib/dom.js";
import { plural } from "../lib/format.js";

/** @typedef {typeof row} Row */

/** @type {Wire} */
const UNSET = { s: "unset" };
const SHOWN = 200;

/** @param {string} key */
export const escapeKey = (key) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * The fields of an object in the schema's order, then its further keys.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @param {number} depth
 * @param {Row} row
 * @returns {Control}
 */
export function objectControl(context, field, path, depth, row) {
  const fields = field.fields ?? [];
  const known = new Set(fields.map((child) => child.title ?? ""));
  const children = fields.map((child) => {
    const key = child.title ?? "";
    return { key, part: row(context, child, { depth: depth + 1, path: () => [...path(), key] }) };
  });
  const extras = h("div", { class: "agt-extras" });
  const adder = keyAdder(context, path, field.title ?? "this object");
  const none = h("div", { class: "agt-quiet agt-none" }, "No keys.");
  const el = h(
    "div",
    { class: "agt-fields" },
    children.map(({ part }) => part.el),
    extras,
    none,
    adder,
  );
  const head = h("span", { class: "agt-quiet agt-hint" });
  return {
    el,
    head,
    block: true,
    update(wire, pointer) {
      const entries = wire.e ?? [];
      const by = new Map(entries);
      for (const { key, part } of children) {
        part.update(by.get(key) ?? UNSET, `${pointer}/${escapeKey(key)}`);
      }
      const more = entries.filter(([key]) => !known.has(key));
      keyed(
        extras,
        more,
        // A renamed key keeps its row, so rows go by place.
        (_, at) => String(at),
        () => extraRow(context, field, path, depth, row),
        (element, [key, child]) => partOf(element).show(key, child, `${pointer}/${escapeKey(key)}`),
      );
      adder.hidden = !field.extra || (!!field.quiet && more.length === 0);
      none.hidden = depth < 0 || fields.length > 0 || more.length > 0 || !adder.hidden;
      setText(
        head,
        wire.s === "object" ? plural(entries.filter(([, one]) => sends(one)).length, "key") : "",
      );
    },
  };
}

/** @param {Wire} wire */
const sends = (wire) => wire.s !== "unset" && !wire.none;

/** @param {Element} element */
const partOf = (element) => /** @type {any} */ (element).agtPart;

/**
 * A key that the schema does not name: its name can be edited too.
 *
 * @param {Context} context
 * @param {Field} field
 * @param {Path} parent
 * @param {number} depth
 * @param {Row} row
 */
function extraRow(context, field, parent, depth, row) {
  let key = "";
  let sent = 0;
  const path = () => [...parent(), key];
  const name = h("input", {
    class: "agt-input agt-mono agt-keyname",
    type: "text",
    "aria-label": "key",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      change: () => {
        if (name.value !== key) sent = context.edit("rename", path, { key: name.value });
      },
    },
  });
  const plan = field.extra ?? { kind: "ref", ref: "any", type: "any" };
  const remove = tool("Remove this key", "×", () => context.edit("remove", path));
  const part = row(context, plan, {
    depth: depth + 1,
    path,
    name,
    tools: remove,
    label: "this key",
  });
  /** @type {any} */ (part.el).agtPart = {
    /** @param {string} now @param {Wire} wire @param {string} pointer */
    show(now, wire, pointer) {
      if (now !== key && (context.seen(sent) || document.activeElement !== name)) name.value = now;
      key = now;
      part.update(wire, pointer);
    },
  };
  return part.el;
}

/** @param {Context} context @param {Path} path @param {string} label */
function keyAdder(context, path, label) {
  const add = () => {
    if (!name.value) return name.focus();
    const key = name.value;
    context.refusals.set(JSON.stringify(path()), (text) => {
      name.value = key;
      setText(fault, text);
    });
    setText(fault, "");
    name.value = "";
    context.edit("add", path, { key });
  };
  const name = h("input", {
    class: "agt-input agt-mono agt-keyname",
    type: "text",
    placeholder: "new key",
    "aria-label": `new key of ${label}`,
    autocomplete: "off",
    spellcheck: "false",
    on: {
      keydown: (event) => {
        if (event.key !== "Enter" || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        add();
      },
    },
  });
  const fault = h("span", { class: "agt-faults", role: "alert" });
  return h(
    "div",
    { class: "agt-adder" },
    name,
    h("button", { class: "agt-button agt-small", type: "button", on: { click: add } }, "Add key"),
    fault,
  );
}

/**
 * @param {Context} context
 * @param {Field} field
 * @param {Path} path
 * @param {number} depth
 * @param {Row} row
 * @returns {Control}
 */
export function arrayControl(context, field, path, depth, row) {
  const prefix = field.prefix ?? [];
  /** @type {Field} */
  const any = { kind: "ref", ref: "any", type: "any" };
  let limit = SHOWN;
  /** @type {[Wire, string] | undefined} */
  let last;
  const items = h("div", { class: "agt-items" });
  const rest = h("button", {
    class: "agt-link",
    type: "button",
    on: {
      click: () => {
        limit += SHOWN;
        if (last) control.update(...last);
      },
    },
  });
  const head = h("span", { class: "agt-quiet agt-hint" });
  const add = h(
    "button",
    {
      class: "agt-button agt-small",
      type: "button",
      on: { click: () => context.edit("add", path) },
    },
    "Add item",
  );
  /** @type {Control} */
  const control = {
    el: h("div", { class: "agt-fields" }, items, rest, h("div", { class: "agt-adder" }, add)),
    head,
    block: true,
    update(wire, pointer) {
      last = [wire, pointer];
      const all = wire.i ?? [];
      let sent = 0;
      const places = all.map(([id, child], at) => {
        const place = sends(child) ? `${pointer}/${sent}` : `${pointer}/-${id}`;
        sent += Number(sends(child));
        return { id, child, at, place, plan: prefix[at] ?? field.items ?? any };
      });
      keyed(
        items,
        places.slice(0, limit),
        // An item of a tuple has the field of its place.
        (one) => `${one.id}:${Math.min(one.at, prefix.length)}`,
        (one) => itemRow(context, one.plan, path, one.id, depth, row),
        (element, one) => partOf(element).show(one.child, one.at, all.length, one.place),
      );
      rest.hidden = all.length <= limit;
      setText(rest, `Show ${Math.min(SHOWN, all.length - limit)} more of ${all.length - limit}`);
      add.hidden = field.more === false && all.length >= prefix.length;
      setText(head, plural(sent, "item"));
    },
  };
  return control;
}

/**
 * @param {Context} context
 * @param {Field} plan
 * @param {Path} parent
 * @param {number} id
 * @param {number} depth
 * @param {Row} row
 */
function itemRow(context, plan, parent, id, depth, row) {
  const path = () => [...parent(), id];
  const index = h("span", { class: "agt-index agt-mono" });
  const up = tool("Move up", "↑", () => context.edit("move", path, { by: -1 }));
  const down = tool("Move down", "↓", () => context.edit("move", path, { by: 1 }));
  const remove = tool("Remove this item", "×", () => context.edit("remove", path));
  const part = row(context, plan, {
    depth: depth + 1,
    path,
    name: index,
    label: "item",
    tools: h("span", { class: "agt-tools" }, up, down, remove),
  });
  /** @type {any} */ (part.el).agtPart = {
    /** @param {Wire} wire @param {number} at @param {number} count @param {string} pointer */
    show(wire, at, count, pointer) {
      fill(index, plan.title && plan.title !== String(at) ? `${at} ${plan.title}` : String(at));
      up.disabled = at === 0;
      down.disabled = at === count - 1;
      part.update(wire, pointer);
    },
  };
  return part.el;
}

/** @param {string} label @param {string} sign @param {() => void} act */
function tool(label, sign, act) {
  return h(
    "button",
    { class: "agt-tool", type: "button", "aria-label": label, title: label, on: { click: act } },
    sign,
  );
}
