/** The shared state, live: values, who wrote them and when; its past, snapshots, search. */

/** @import { RenderContext } from "../lib/types" */
/** @import { Editor } from "./editor.js" */
/** @import { By, Entry, PlacedWrite, State } from "./types" */
import { confirmButton } from "../lib/confirm.js";
import { fill, h, keyed, setText } from "../lib/dom.js";
import { ago, clock, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { keysOf } from "./changes.js";
import { editor } from "./editor.js";
import { entryRow } from "./entry.js";
import { historyBar } from "./history.js";
import { searchField } from "./search.js";
import { snapshotList } from "./snapshots.js";
import { about, stepLink, time, what, who } from "./words.js";

/** @param {PlacedWrite} write @param {(steps: Record<By, number>) => void} go */
function writeRow(write, go) {
  return h(
    "tr",
    { title: about(write) },
    h("td", { class: "agt-seq" }, stepLink(write, go)),
    h("td", { class: "agt-mono agt-cut" }, write.key || "all keys"),
    h("td", { class: "agt-mono agt-cut" }, what(write)),
    h("td", { class: "agt-who" }, who(write)),
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
  const history = historyBar({
    look: (by, at) => view.send("look", { by, at }),
    left: () => moved(),
  });
  const search = searchField({
    find: (text) => view.send("find", { text, ...history.position }),
    changed: () => draw(view.data()),
    go: (steps) => history.show(steps),
  });
  const snapshots = snapshotList({
    save: (name) => view.send("save", { name }),
    load: (name) => view.send("load", { name }),
    forget: (name) => view.send("forget", { name }),
    compare: (before, after) => view.send("compare", { before, after }),
  });
  const list = h("div", { class: "agt-list" });
  const empty = h("div", { class: "agt-empty" });
  const moreKeys = h("div", { class: "agt-empty" });
  const newPlace = h("div", { class: "agt-new", hidden: true });
  const latest = h("span", { class: "agt-latest agt-quiet" });
  const writes = h("tbody");
  const recent = h(
    "details",
    {
      class: "agt-fold",
      on: {
        toggle: () => recent.open && (view.data().writes ?? []).length < 2 && view.send("recent"),
      },
    },
    h("summary", null, h("span", { class: "agt-label" }, "Recent writes"), latest),
    h("div", { class: "agt-scroll", tabindex: "0" }, h("table", { class: "agt-table" }, writes)),
  );

  /** Another state is shown than before. */
  const moved = () => {
    draw(view.data());
    if (search.found) search.moved();
  };

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

  /** @param {Entry} entry */
  const row = ({ key }) => {
    const memory = memories.get(key) ?? new Map();
    memories.set(key, memory);
    return entryRow(key, {
      memory,
      editing: () => editors.get(key),
      edit: () => openEditor(key),
      remove: () => view.send("delete", { key }),
    });
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
  const drawEntries = (data) => {
    const { moment } = history;
    const shown = moment ?? data;
    const fresh = new Map((shown.keys ?? []).map((entry) => [entry.key, entry]));
    const found = search.found;
    const keys = found
      ? found.keys.map((entry) => ({
          ...(fresh.get(entry.key) ?? entry),
          places: entry.places ?? [],
        }))
      : (shown.keys ?? []);
    const look = {
      past: moment !== null,
      live: view.live(),
      changed: moment ? keysOf(moment.changes) : new Set(),
      seen: seenSeq,
    };
    keyed(
      list,
      keys,
      (entry) => entry.key,
      row,
      (element, entry) => element.update(entry, look),
    );
    list.classList.toggle("agt-past", look.past);
    const more = found ? found.more_keys : (shown.more_keys ?? 0);
    moreKeys.hidden = !more;
    setText(moreKeys, `and ${plural(more, "more key")}`);
    empty.hidden = keys.length + more > 0;
    setText(empty, emptyText(found !== null, moment !== null, (data.total_writes ?? 0) > 0));
  };

  /** @param {State} data */
  const draw = (data) => {
    const keys = data.keys ?? [];
    const count = keys.length + (data.more_keys ?? 0);
    const live = view.live();
    setText(title, data.title ?? "State");
    setText(total, `${plural(count, "key")} · ${plural(data.total_writes ?? 0, "write")}`);
    history.update(data, live);
    search.update(live);
    search.grown(data.total_writes ?? 0);
    snapshots.update(data.snapshots ?? [], live);
    for (const key of editors.keys()) {
      if (!keys.some((entry) => entry.key === key)) editors.delete(key);
    }
    drawEntries(data);
    const last = data.writes?.[0];
    recent.hidden = !last;
    fill(latest, last && [last.key || "all keys", ` · ${who(last)} · `, time(last.at)]);
    keyed(
      writes,
      data.writes ?? [],
      (write) => String(write.seq),
      (write) =>
        writeRow(write, (steps) => {
          history.show(steps);
          // What it shows stands far above.
          history.el.scrollIntoView({ block: "nearest" });
        }),
    );
    for (const button of writes.querySelectorAll("button")) button.disabled = !live;
    add.disabled = reset.disabled = !live;
    // They change the present, which is not what is shown.
    add.hidden = history.moment !== null;
    reset.hidden = count === 0 || history.moment !== null;
    tick();
    const grown = seenSeq >= 0 && data.total_writes !== seenSeq;
    seenSeq = data.total_writes ?? 0;
    if (grown) snapshots.grown();
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
      moment(message) {
        if (history.take(/** @type {any} */ (message))) moved();
      },
      found: (message) => search.take(/** @type {any} */ (message)),
      saved: (message) => snapshots.saved(message.fault),
      compared: (message) => snapshots.compared(/** @type {any} */ (message)),
    },
    dispose: () => {
      clearInterval(timer);
      search.dispose();
      snapshots.dispose();
    },
  });
  const timer = setInterval(tick, 1000);
  fill(
    view.body,
    h(
      "section",
      { class: "agt-frame", "aria-label": "State" },
      h(
        "div",
        { class: "agt-head" },
        title,
        total,
        h("span", { class: "agt-grow" }),
        search.input,
        add,
        reset,
      ),
      history.el,
      newPlace,
      search.el,
      list,
      moreKeys,
      empty,
      snapshots.el,
      recent,
    ),
  );
  view.start();
  return () => view.dispose();
}

export default { render };

/**
 * @param {boolean} searched
 * @param {boolean} past
 * @param {boolean} written
 */
function emptyText(searched, past, written) {
  if (searched) return "No key or value holds this text.";
  if (past) return "There was no state then.";
  return written
    ? "No state now. The slider above shows what there was."
    : "No state yet: a tool's context writes it.";
}
