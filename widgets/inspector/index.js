/** The shared state, live: values, who wrote them and when; editing. */

/** @import { BaseData, RenderContext } from "../lib/types" */
/** @import { Editor } from "./editor.js" */
import { confirmButton } from "../lib/confirm.js";
import { fill, h, keyed, setText } from "../lib/dom.js";
import { ago, clock, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { jsonTree } from "../lib/tree.js";
import { editor } from "./editor.js";

/**
 * @typedef {object} Write
 * @property {number} seq
 * @property {string} key
 * @property {"set" | "update" | "delete" | "reset"} operation
 * @property {string} text
 * @property {string | null} tool
 * @property {string | null} call
 * @property {number} at Unix time in seconds
 */

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} text JSON text
 * @property {string} note what was left out of it
 * @property {Write | null} write the last one
 */

/**
 * @typedef {BaseData & {
 *   title: string,
 *   keys: Entry[],
 *   more_keys: number,
 *   writes: Write[],
 *   total_writes: number,
 * }} State
 */

/** @param {Write} write */
function who(write) {
  return write.tool ?? "notebook";
}

/** @param {Write} write */
function about(write) {
  const call = write.call ? `, call ${write.call}` : "";
  return `write ${write.seq}: ${write.operation} by ${who(write)}${call}, ${clock(write.at)}`;
}

/** @param {number} at */
function time(at) {
  return h("time", { class: "agt-ago", "data-at": at, title: clock(at) });
}

/** @param {Write} write */
function writeRow(write) {
  return h(
    "tr",
    { title: about(write) },
    h("td", { class: "agt-quiet" }, `#${write.seq}`),
    h("td", { class: "agt-mono" }, write.key || "all keys"),
    h(
      "td",
      { class: "agt-mono agt-cut" },
      write.operation === "delete" || write.operation === "reset" ? write.operation : write.text,
    ),
    h("td", null, who(write)),
    h("td", { class: "agt-quiet agt-mono agt-cut agt-callid" }, write.call ?? ""),
    h("td", { class: "agt-quiet agt-when" }, time(write.at)),
  );
}

/** @param {RenderContext} context */
function render(context) {
  /** @type {Map<string, Editor>} */
  const editors = new Map();
  /** @type {Map<string, Map<string, boolean>>} */
  const memories = new Map();
  /** @type {Editor | null} */
  let adding = null;
  let seenSeq = -1;

  const title = h("span", { class: "agt-title" });
  const total = h("span", { class: "agt-quiet" });
  const add = h(
    "button",
    { class: "agt-button agt-small", type: "button", on: { click: () => openNew() } },
    "Add key",
  );
  const reset = confirmButton("Reset", "Remove all keys?", () => view.send("reset"));
  const list = h("div", { class: "agt-list" });
  const empty = h("div", { class: "agt-empty" }, "No state yet: a tool's context writes it.");
  const moreKeys = h("div", { class: "agt-empty" });
  const newPlace = h("div", { class: "agt-new", hidden: true });
  const latest = h("span", { class: "agt-latest agt-quiet" });
  const writes = h("tbody");
  const recent = h(
    "details",
    { class: "agt-writes" },
    h("summary", null, h("span", { class: "agt-label" }, "Recent writes"), latest),
    h("div", { class: "agt-scroll", tabindex: "0" }, h("table", { class: "agt-table" }, writes)),
  );

  /** @param {string} key */
  const closeEditor = (key) => {
    editors.delete(key);
    draw(view.data());
    const place = [...list.children].find((row) => /** @type {any} */ (row).agtKey === key);
    /** @type {HTMLElement | null | undefined} */ (
      place?.querySelector(".agt-meta .agt-link")
    )?.focus();
  };

  const openNew = () => {
    adding = editor({
      key: null,
      save: (key, text) => view.send("edit", { key, text, new: true }),
      close: () => {
        adding = null;
        newPlace.hidden = true;
        add.focus();
      },
    });
    fill(newPlace, adding.el);
    newPlace.hidden = false;
    newPlace.querySelector("input")?.focus();
  };

  /** @param {string} key */
  const openEditor = (key) => {
    editors.set(
      key,
      editor({
        key,
        save: (_, text) => view.send("edit", { key, text }),
        close: () => closeEditor(key),
      }),
    );
    view.send("open", { key });
    draw(view.data());
  };

  /** @param {Entry} first */
  const row = (first) => {
    const key = first.key;
    const memory = memories.get(key) ?? new Map();
    memories.set(key, memory);
    const value = h("div", { class: "agt-value" });
    const by = h("span", { class: "agt-by" });
    const edit = h(
      "button",
      {
        class: "agt-link",
        type: "button",
        "aria-label": `Edit ${key}`,
        on: { click: () => openEditor(key) },
      },
      "Edit",
    );
    const remove = confirmButton("Delete", "Sure?", () => view.send("delete", { key }), "agt-link");
    remove.setAttribute("aria-label", `Delete ${key}`);
    const element = h(
      "div",
      { class: "agt-entry" },
      h("div", { class: "agt-mono agt-name" }, key),
      value,
      h("div", { class: "agt-meta" }, by, h("div", { class: "agt-actions" }, edit, remove)),
    );
    let text = "";
    let seq = -1;
    /** @type {Editor | undefined} */
    let shown;
    /** @param {Entry} entry */
    const update = (entry) => {
      const editing = editors.get(key);
      const now = entry.write?.seq ?? 0;
      if (editing !== shown || entry.text !== text || value.childNodes.length === 0) {
        if (editing && editing === shown) {
          editing.changedMeanwhile();
        } else if (editing) {
          fill(value, editing.el);
        } else {
          fill(
            value,
            jsonTree(entry.text, { open: 1, memory }),
            entry.note && h("div", { class: "agt-quiet agt-note" }, entry.note),
          );
        }
        shown = editing;
        text = entry.text;
      }
      if (now !== seq) {
        fill(by, entry.write && [h("span", null, who(entry.write)), " ", time(entry.write.at)]);
        by.title = entry.write ? about(entry.write) : "";
        // Not on the first draw: only what changes before one's eyes.
        if (seenSeq >= 0 && now > seenSeq) flash(element);
        seq = now;
      }
      edit.disabled = !view.live() || editing !== undefined;
      remove.disabled = !view.live();
    };
    return Object.assign(element, { update });
  };

  const tick = () => {
    const now = Date.now() / 1000;
    const live = view.live();
    for (const element of view.root.querySelectorAll(".agt-ago")) {
      const at = Number(/** @type {HTMLElement} */ (element).dataset.at);
      // A saved page may be years old: there only the absolute time says anything.
      setText(element, live ? ago(Math.max(0, now - at)) : clock(at));
    }
  };

  /** @param {State} data */
  const draw = (data) => {
    const keys = data.keys ?? [];
    const count = keys.length + (data.more_keys ?? 0);
    setText(title, data.title ?? "State");
    setText(total, `${plural(count, "key")} · ${plural(data.total_writes ?? 0, "write")}`);
    keyed(
      list,
      keys,
      (entry) => entry.key,
      row,
      (element, entry) => element.update(entry),
    );
    for (const key of editors.keys()) {
      if (!keys.some((entry) => entry.key === key)) editors.delete(key);
    }
    empty.hidden = count > 0;
    moreKeys.hidden = !data.more_keys;
    setText(moreKeys, `and ${plural(data.more_keys ?? 0, "more key")}`);
    const last = data.writes?.[0];
    recent.hidden = !last;
    fill(latest, last && [last.key || "all keys", ` · ${who(last)} · `, time(last.at)]);
    keyed(writes, data.writes ?? [], (write) => String(write.seq), writeRow);
    add.disabled = reset.disabled = !view.live();
    reset.hidden = count === 0;
    tick();
    seenSeq = data.total_writes ?? 0;
  };

  /** @type {ReturnType<typeof connect<State>>} */
  const view = connect(context, "inspector", {
    draw,
    messages: {
      value(message) {
        editors.get(message.key)?.loaded(message.text, message.note, message.same);
      },
      edited(message) {
        const target = message.new ? adding : editors.get(message.key);
        if (message.fault) target?.refused(message.fault);
        else if (!message.new) closeEditor(message.key);
        else {
          adding = null;
          newPlace.hidden = true;
        }
      },
    },
    dispose: () => clearInterval(timer),
  });
  const timer = setInterval(tick, 1000);
  fill(
    view.body,
    h(
      "section",
      { class: "agt-frame", "aria-label": "State" },
      h("div", { class: "agt-head" }, title, total, h("span", { class: "agt-grow" }), add, reset),
      newPlace,
      list,
      moreKeys,
      empty,
      recent,
    ),
  );
  view.start();
  return () => view.dispose();
}

export default { render };

/** @param {HTMLElement} element */
function flash(element) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const animation of element.getAnimations()) animation.cancel();
  element.animate(
    [{ backgroundColor: "color-mix(in srgb, var(--agt-accent) 18%, transparent)" }, {}],
    { duration: 1500, easing: "ease-out" },
  );
}
