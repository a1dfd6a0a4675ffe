/** Messages of a conversation, one element each. */

/** @import { Call, Drawn, Entry, Place } from "./types" */
import { fill, h, setText } from "../lib/dom.js";
import { duration } from "../lib/format.js";
import { markdown } from "../lib/markdown.js";
import { mediaOf } from "../lib/media.js";
import { jsonTree, longText } from "../lib/tree.js";
import { callCard } from "./call.js";
import { editor } from "./editor.js";
import { folded } from "./folded.js";
import { rawPanel } from "./raw.js";
import { tokens, usageWords } from "./words.js";

const EVENTS = { result: "Result", event: "Event", message: "Message", report: "Report" };

/**
 * A list of entries that is brought in step, each with the element that it had.
 *
 * @param {Place} place
 * @param {number} list
 * @returns {Drawn<Entry[]>}
 */
export function transcript(place, list) {
  const el = h("div", { class: "agt-entries" });
  /** @type {Map<number, Drawn<Entry>>} */
  const drawn = new Map();
  return {
    el,
    update(entries) {
      const left = new Set(drawn.keys());
      let before = el.firstElementChild;
      for (const entry of entries) {
        left.delete(entry.n);
        let one = drawn.get(entry.n);
        if (!one) {
          one = MAKERS[entry.k](place, list);
          drawn.set(entry.n, one);
        }
        if (one.el === before) before = before.nextElementSibling;
        else el.insertBefore(one.el, before);
        one.update(entry);
      }
      for (const n of left) {
        const one = drawn.get(n);
        one?.dispose();
        one?.el.remove();
        drawn.delete(n);
      }
    },
    dispose() {
      for (const one of drawn.values()) one.dispose();
    },
  };
}

/** @param {Place} place @param {number} list @returns {Drawn<Entry>} */
function userEntry(place, list) {
  const label = h("span", { class: "agt-label", hidden: true });
  const text = h("div", { class: "agt-usertext", dir: "auto" });
  const media = h("div", { hidden: true });
  const bubble = h("div", { class: "agt-bubble" }, label, text, media);
  const edit = h(
    "button",
    {
      class: "agt-link agt-edit",
      type: "button",
      title: "Say something else here; the conversation goes on from it",
      on: { click: () => beginEdit() },
    },
    "Edit",
  );
  const versions = h("span", { class: "agt-versions", hidden: true });
  const tools = h("div", { class: "agt-entrytools" }, versions, edit);
  const el = h("article", { class: "agt-entry agt-user", "aria-label": "You" }, bubble, tools);
  /** @type {Entry | undefined} */
  let entry;
  /** @type {HTMLElement | undefined} */
  let editing;
  let shown = "";
  let listed = "";

  const beginEdit = () => {
    if (editing || !entry) return;
    editing = editor(
      entry.text,
      (said) => {
        endEdit();
        place.send("resend", { id: entry?.id, text: said });
      },
      endEdit,
    );
    bubble.hidden = tools.hidden = true;
    el.append(editing);
    editing.querySelector("textarea")?.focus();
  };
  const endEdit = () => {
    editing?.remove();
    editing = undefined;
    bubble.hidden = tools.hidden = false;
    edit.focus();
  };
  const drawVersions = () => {
    const all = place.head().versions[entry?.id ?? ""] ?? [];
    const now = JSON.stringify(all);
    if (now === listed) return;
    listed = now;
    versions.hidden = all.length < 2;
    const at = all.indexOf(entry?.id ?? "");
    const go = (
      /** @type {number} */ to,
      /** @type {string} */ sign,
      /** @type {string} */ words,
    ) =>
      h(
        "button",
        {
          class: "agt-link",
          type: "button",
          "aria-label": words,
          disabled: all[to] === undefined,
          on: { click: () => place.send("switch", { id: all[to] }) },
        },
        sign,
      );
    fill(
      versions,
      go(at - 1, "‹", "The version before"),
      h("span", null, `${at + 1} of ${all.length}`),
      go(at + 1, "›", "The next version"),
    );
  };
  return {
    el,
    update(next) {
      const was = entry;
      entry = next;
      drawVersions();
      edit.hidden =
        list !== place.head().root ||
        next.event != null ||
        place.head().busy !== null ||
        place.head().closed ||
        !place.live();
      if (next === was) return;
      const nobody = list === place.head().root ? "" : "Task";
      const from =
        next.event == null ? nobody : (EVENTS[/** @type {"event"} */ (next.event)] ?? "Event");
      setText(label, from);
      label.hidden = !from;
      el.classList.toggle("agt-event", from !== "");
      el.setAttribute("aria-label", from || "You");
      if (next.text !== shown) {
        shown = next.text;
        fill(text, longText(next.text), next.cut && h("div", { class: "agt-quiet" }, next.cut));
      }
      media.hidden = !next.media?.length;
      if (next.media?.length && !media.hasChildNodes()) fill(media, mediaOf(next.media));
    },
    dispose() {},
  };
}

/** @param {Place} place @param {number} list @returns {Drawn<Entry>} */
function modelEntry(place, list) {
  const prose = markdown();
  const cut = h("div", { class: "agt-quiet", hidden: true });
  const calls = h("div", { class: "agt-calls", hidden: true });
  const fault = h("div", { class: "agt-fault", role: "alert", hidden: true });
  const notes = h("div", { class: "agt-quiet agt-small-print", hidden: true });
  const print = h("span", { class: "agt-quiet" });
  const raw = h(
    "button",
    {
      class: "agt-link agt-rawtoggle",
      type: "button",
      "aria-expanded": "false",
      title: "The raw request and response of this turn",
      on: { click: () => toggleRaw() },
    },
    "Raw",
  );
  const panel = h("div", { class: "agt-raw", hidden: true });
  const tools = h("div", { class: "agt-entrytools", hidden: true }, print, raw);
  const el = h(
    "article",
    { class: "agt-entry agt-model", "aria-label": "The model" },
    prose.el,
    cut,
    calls,
    fault,
    notes,
    tools,
    panel,
  );
  /** @type {Entry | undefined} */
  let entry;
  /** @type {Drawn<Call>[]} */
  const cards = [];
  const folding = folded(calls, cards);

  const toggleRaw = () => {
    const open = panel.hidden === true;
    panel.hidden = !open;
    raw.setAttribute("aria-expanded", String(open));
    if (!open || entry?.raw) return;
    fill(panel, h("div", { class: "agt-empty" }, place.live() ? "Loading…" : "Not connected."));
    if (place.live()) place.send("raw", { list, n: entry?.n });
  };
  return {
    el,
    update(next) {
      if (next === entry) {
        for (const [at, call] of (next.calls ?? []).entries()) cards[at]?.update(call);
        return;
      }
      const was = entry;
      entry = next;
      const done = next.done === true;
      el.classList.toggle("agt-writing", !done);
      prose.update(next.text, done);
      prose.el.hidden = next.text.trim() === "";
      setText(cut, next.cut ?? "");
      cut.hidden = !next.cut;
      for (const [at, call] of (next.calls ?? []).entries()) {
        let card = cards[at];
        if (!card) {
          card = callCard(place, list, next.n, call, (id) => transcript(place, id));
          cards.push(card);
          calls.append(card.el);
        }
        card.update(call);
      }
      folding.update(next.calls ?? []);
      calls.hidden = cards.length === 0;
      setText(fault, next.error ? `The answer broke off: ${next.error}` : "");
      fault.hidden = !next.error;
      setText(notes, (next.notes ?? []).join(" · "));
      notes.hidden = !next.notes?.length;
      tools.hidden = !done;
      if (done) {
        setText(print, [duration(next.secs ?? 0), tokens(next.usage)].filter(Boolean).join(" · "));
        print.title = usageWords(next.usage);
      }
      if (next.raw && next.raw !== was?.raw) fill(panel, rawPanel(next.raw));
    },
    dispose() {
      prose.dispose();
      for (const card of cards) card.dispose();
    },
  };
}

const REASONS = /** @type {Record<string, string>} */ ({
  finished: "Finished",
  cancelled: "Stopped",
  model_error: "The model failed",
  denied: "Denied",
  max_turns: "Too many turns",
  token_budget: "Tokens spent",
  time_budget: "Out of time",
  repairs: "Not repaired",
  length: "Cut off",
});

/** How an answer ended, where it did not just end. @returns {Drawn<Entry>} */
function endEntry() {
  const el = h("div", { class: "agt-entry agt-end", role: "status" });
  return {
    el,
    update(next) {
      if (el.hasChildNodes()) return;
      const kind =
        next.reason === "finished" ? "ok" : next.reason === "cancelled" ? "cancelled" : "error";
      // What a model failed of stands in its message.
      const isSaid = ["cancelled", "finished", "model_error"].includes(next.reason ?? "");
      const detail = isSaid ? "" : next.detail;
      fill(
        el,
        h(
          "div",
          { class: "agt-endline" },
          h("span", { class: `agt-status agt-${kind}` }, REASONS[next.reason ?? ""] ?? "Stopped"),
          detail && h("span", { class: "agt-quiet agt-endwords" }, longText(detail)),
        ),
        next.output !== undefined && jsonTree(next.output, { open: 2 }),
        next.output_note && h("div", { class: "agt-quiet" }, next.output_note),
      );
    },
    dispose() {},
  };
}

/** What was handled in a thread of its own. @param {Place} place @returns {Drawn<Entry>} */
function threadEntry(place) {
  const label = h("div", { class: "agt-label" }, "Answered apart from the conversation");
  const el = h("article", { class: "agt-entry agt-thread", "aria-label": "A thread" }, label);
  /** @type {Drawn<Entry[]> | undefined} */
  let inner;
  return {
    el,
    update(next) {
      if (!inner) {
        inner = transcript(place, next.child ?? 0);
        el.append(h("div", { class: "agt-child" }, inner.el));
      }
      inner.update(place.list(next.child ?? 0));
    },
    dispose() {
      inner?.dispose();
    },
  };
}

const MAKERS = { user: userEntry, model: modelEntry, end: endEntry, thread: threadEntry };
