/** One row for each thing that runs, has ended, or arrived. */

/** @import { Child } from "../lib/types" */
/** @import { Detail, InboxEvent, Work } from "./types" */
import { fill, h, setText } from "../lib/dom.js";
import { clock, duration } from "../lib/format.js";
import { disclosure } from "../lib/rows.js";
import { detailOf } from "./detail.js";

/**
 * A row whose details are asked for when it is opened, and again when it has changed.
 *
 * @param {Child} head
 * @param {() => void} ask
 */
function asking(head, ask) {
  const body = h("div");
  const row = disclosure(head, () => {
    if (!body.hasChildNodes()) fill(body, h("div", { class: "agt-empty" }, "Loading…"));
    ask();
    return body;
  });
  let sign = "";
  return {
    row,
    /** @param {string} next */
    changed(next) {
      if (sign !== "" && next !== sign && body.isConnected) ask();
      sign = next;
    },
    /** @param {Detail} detail */
    detail(detail) {
      fill(body, detailOf(detail));
    },
  };
}

/** A time in words that the view's ticking keeps: `data-mode` says how. @param {string} mode */
function ticking(mode) {
  return h("time", { class: "agt-tick agt-quiet", "data-mode": mode });
}

/**
 * @param {Work} first
 * @param {{ ask: () => void, cancel: () => void }} actions
 */
export function workRow(first, { ask, cancel }) {
  const status = h("span", { class: "agt-status" });
  const name = h("span", { class: "agt-mono agt-name" });
  const kind = h("span", { class: "agt-tag" });
  const args = h("span", { class: "agt-mono agt-quiet agt-args" });
  const text = h("span", { class: "agt-text" });
  const took = ticking("since");
  const strip = h("span", { class: "agt-strip", "aria-hidden": "true", hidden: true });
  const opened = asking(
    [status, h("span", { class: "agt-what" }, name, kind, args), text, took, strip],
    ask,
  );
  const button = h(
    "button",
    {
      class: "agt-button agt-small agt-cancel",
      type: "button",
      "aria-label": `Cancel ${first.name}`,
      on: {
        click: () => {
          button.disabled = true;
          cancel();
        },
      },
    },
    "Cancel",
  );
  const element = h("div", { class: "agt-item" }, opened.row, button);
  /**
   * @param {Work} work
   * @param {boolean} live
   */
  const update = (work, live) => {
    const isOpen = work.status === "running";
    status.className = `agt-status agt-${work.status}`;
    setText(status, work.word);
    setText(name, work.name);
    setText(kind, work.kind);
    kind.hidden = work.kind === work.name;
    setText(args, work.args);
    setText(text, work.text);
    text.classList.toggle("agt-bad", work.status === "error");
    text.classList.toggle("agt-mono", work.status === "ok" && work.way === "task");
    strip.hidden = work.share === null;
    strip.style.setProperty("--share", String(work.share ?? 0));
    took.hidden = work.began === null;
    took.dataset.from = String(work.began ?? 0);
    if (work.began !== null) took.title = `began ${clock(work.began)}`;
    if (work.ended === null && isOpen) took.dataset.mode = "since";
    else if (work.ended === null) took.dataset.mode = "at";
    else {
      took.dataset.mode = "done";
      setText(took, duration(Math.max(0, work.ended - (work.began ?? 0))));
    }
    element.classList.toggle("agt-open", isOpen);
    button.hidden = !isOpen;
    button.disabled = work.cancelling || !live;
    setText(button, work.cancelling ? "Cancelling…" : "Cancel");
    opened.changed(JSON.stringify([work.status, work.text]));
  };
  return Object.assign(element, { update, detail: opened.detail });
}

/**
 * @param {InboxEvent} first
 * @param {() => void} ask
 */
export function eventRow(first, ask) {
  const status = h("span", { class: "agt-status" });
  const text = h("span", { class: "agt-mono agt-text" });
  const at = ticking("at");
  const opened = asking(
    [
      status,
      h(
        "span",
        { class: "agt-what" },
        h("span", { class: "agt-quiet agt-seq" }, `#${first.id}`),
        first.name && h("span", { class: "agt-mono agt-name" }, first.name),
        h("span", { class: "agt-tag" }, first.kind),
        first.final && h("span", { class: "agt-tag" }, "final"),
      ),
      text,
      at,
    ],
    ask,
  );
  at.dataset.from = String(first.at);
  at.title = clock(first.at);
  const element = h("div", { class: "agt-item agt-event" }, opened.row);
  /** @param {InboxEvent} event */
  const update = (event) => {
    status.className = `agt-status agt-${event.error === null ? event.status : "error"}`;
    setText(status, event.error !== null && event.status === "ok" ? "handled" : event.word);
    setText(text, event.error ?? event.text);
    text.classList.toggle("agt-bad", event.error !== null);
    opened.changed(event.status);
  };
  return Object.assign(element, { update, detail: opened.detail });
}
