/** A batch as it runs: one row a call, bars on a common time axis. */

import { detailOf, runningParts } from "../lib/detail.js";
/** @import { RenderContext } from "../lib/types" */
/** @import { Batch, Row } from "./store.js" */
import { fill, h, keyed, setText } from "../lib/dom.js";
import { duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { percent } from "../lib/progress.js";
import { disclosure } from "../lib/rows.js";
import { tickLabel, tickStep } from "./axis.js";
import { Store } from "./store.js";

const ROWS_SHOWN = 100;
const FRAME_MS = 100;
const WORDS = {
  waiting: "waiting",
  asking: "asks you",
  running: "running",
  ok: "ok",
  error: "error",
  invalid: "invalid",
  cancelled: "cancelled",
  denied: "denied",
};

/**
 * One row. `details` is asked for when the row is opened.
 *
 * @param {Row} first
 * @param {(row: Row) => void} opened
 */
function rowOf(first, opened) {
  let row = first;
  const status = h("span", { class: "agt-status" });
  const name = h("span", { class: "agt-mono agt-name" });
  const args = h("span", { class: "agt-mono agt-quiet agt-args" });
  const coerced = h("span", { class: "agt-tag" });
  const outcome = h("span", { class: "agt-mono agt-outcome" });
  const bar = h("span", { class: "agt-bar" });
  const took = h("span", { class: "agt-took" });
  const strip = h("span", { class: "agt-strip", "aria-hidden": "true", hidden: true });
  const details = h("div");
  const running = runningParts();
  const body = h("div", null, details, running.el);
  const element = disclosure(
    [
      status,
      h("span", { class: "agt-call" }, name, args, coerced),
      outcome,
      h("span", { class: "agt-track" }, bar),
      took,
      strip,
    ],
    () => {
      drawBody();
      return body;
    },
    (open) => open && opened(row),
  );
  const drawBody = () => {
    fill(details, row.detail ? detailOf(row.detail) : h("div", { class: "agt-empty" }, "Loading…"));
  };
  const drawRunning = () => {
    const first = row.bars?.[0];
    strip.hidden = first === undefined || first.share === null;
    if (first) strip.style.setProperty("--share", String(first.share ?? 0));
    running.update(row.bars ?? [], row.output);
    if (row.status !== "running") running.el.hidden = true;
    if (row.duration !== undefined) setText(took, duration(row.duration));
    else setText(took, first ? percent(first) : "");
  };
  /** @type {Row | null} */
  let drawn = null;
  /** @param {Row} next */
  const update = (next) => {
    if (next === drawn) return;
    const detailChanged = next.detail !== drawn?.detail;
    const ended = drawn !== null && next.status !== drawn.status;
    drawn = row = next;
    status.className = `agt-status agt-${row.status}`;
    setText(status, WORDS[row.status]);
    setText(name, row.name);
    setText(args, row.args);
    setText(coerced, `${row.changes} coerced`);
    coerced.hidden = row.changes === 0;
    setText(outcome, row.outcome ?? row.line ?? "");
    outcome.classList.toggle("agt-bad", row.status === "error" || row.status === "invalid");
    drawRunning();
    // The card that asks shows the arguments as the tool will get them.
    element.classList.toggle("agt-bodyless", row.status === "asking");
    bar.className = `agt-bar agt-${row.status}`;
    bar.hidden = row.start === undefined;
    bar.style.setProperty("--s", String(row.start ?? 0));
    if (row.duration === undefined) bar.style.removeProperty("--d");
    else bar.style.setProperty("--d", String(row.duration));
    if (!body.isConnected) return;
    if (ended && !row.detail) opened(row);
    else if (detailChanged) drawBody();
  };
  return Object.assign(element, { update });
}

/** @param {RenderContext} context */
function render(context) {
  const store = new Store();
  let all = false;
  let failedOnly = false;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  let step = 0;

  const title = h("span", { class: "agt-title" });
  const summary = h("span", { class: "agt-summary", role: "status" });
  const elapsed = h("span", { class: "agt-elapsed agt-quiet" });
  const failed = h(
    "button",
    {
      class: "agt-button agt-small",
      type: "button",
      on: {
        click: () => {
          failedOnly = !failedOnly;
          drawRows();
        },
      },
    },
    "Failed only",
  );
  const stop = h(
    "button",
    { class: "agt-button agt-small agt-stop", type: "button", on: { click: () => press() } },
    "Stop",
  );
  const ticks = h("span", { class: "agt-ticks", "aria-hidden": "true" });
  const axis = h("div", { class: "agt-axis" }, ticks);
  const list = h("div", { class: "agt-list" });
  const more = h(
    "button",
    {
      class: "agt-link agt-more",
      type: "button",
      on: {
        click: () => {
          all = true;
          drawRows();
        },
      },
    },
    "",
  );
  const frame = h(
    "section",
    { class: "agt-frame", "aria-label": "Calls" },
    h(
      "div",
      { class: "agt-head" },
      title,
      summary,
      h("span", { class: "agt-grow" }),
      elapsed,
      failed,
      stop,
    ),
    axis,
    list,
    more,
  );

  const press = () => {
    stop.disabled = true;
    view.send("stop");
  };

  /** @param {Row} row */
  const opened = (row) => {
    if (row.detail) return;
    if (view.live()) view.send("open", { i: row.i });
    else {
      store.rows[row.i] = {
        ...row,
        detail: {
          sent: row.args,
          sent_note: "The details are in the kernel, which is not connected.",
          changes: [],
        },
      };
      drawRows();
    }
  };

  /** A call that stands alone: open from the start, and no axis. */
  const single = () => store.rows.length === 1;

  const drawHead = () => {
    const { waiting, asking, running, ok, failed: bad, denied, cancelled } = store.counts();
    const count = store.rows.length;
    const finished = store.head.finished;
    const done = count - waiting - asking - running;
    const only = single() ? store.rows[0] : undefined;
    title.classList.toggle("agt-mono", only !== undefined);
    setText(title, only ? only.name : plural(count, "call"));
    /** @type {[number, string, string][]} */
    const parts = [
      [ok, "ok", "ok"],
      [bad, "failed", "error"],
      [denied, "denied", "denied"],
      [cancelled, "cancelled", "cancelled"],
      [asking, asking === 1 ? "asks you" : "ask you", "asking"],
      [running, "running", "running"],
      [waiting, "waiting", "waiting"],
    ];
    const text = finished || only ? "" : `${done.toLocaleString("en")} done`;
    const shown = parts.filter(([n, word]) => n > 0 && (finished || word !== "ok"));
    const sign = JSON.stringify([text, shown, only?.status]);
    if (summary.dataset.sign !== sign) {
      summary.dataset.sign = sign;
      fill(
        summary,
        text && h("span", null, text),
        shown.map(([n, word, kind]) =>
          h(
            "span",
            { class: `agt-status agt-${only?.status ?? kind}` },
            only ? WORDS[only.status] : `${n.toLocaleString("en")} ${word}`,
          ),
        ),
      );
    }
    frame.classList.toggle("agt-single", single());
    frame.classList.toggle("agt-headonly", only?.status === "asking");
    failed.hidden = bad === 0 || count < 10;
    failed.setAttribute("aria-pressed", String(failedOnly));
    stop.hidden = !store.canStop || finished;
    stop.disabled = store.head.stopping || !view.live();
    setText(stop, store.head.stopping ? "Stopping…" : "Stop");
  };

  const drawTime = () => {
    const now = store.now();
    const span = Math.max(now, 0.001);
    frame.style.setProperty("--now", String(now));
    frame.style.setProperty("--span", String(span));
    setText(elapsed, duration((single() && store.rows[0]?.duration) || now));
    const next = tickStep(span);
    if (next !== step) {
      step = next;
      frame.style.setProperty("--step", String(step));
    }
    /** @type {number[]} */
    const at = [];
    for (let tick = 0; tick <= span * 0.94; tick += step) at.push(tick);
    keyed(
      ticks,
      at,
      (tick) => String(Number(tick.toPrecision(6))),
      (tick) => {
        const mark = h("span", null, tickLabel(Number(tick.toPrecision(6)), step));
        mark.style.setProperty("--s", String(tick));
        return mark;
      },
    );
  };

  const drawRows = () => {
    const wanted = failedOnly
      ? store.rows.filter((row) => row.status === "error" || row.status === "invalid")
      : store.rows;
    const shown = all ? wanted : wanted.slice(0, ROWS_SHOWN);
    keyed(
      list,
      shown,
      (row) => String(row.i),
      (row) => rowOf(row, opened),
      (element, row) => element.update(row),
    );
    more.hidden = shown.length === wanted.length;
    setText(more, `Show all ${plural(wanted.length, "call")}`);
    drawHead();
    drawTime();
    if (single()) /** @type {ReturnType<typeof rowOf>} */ (list.firstElementChild)?.toggle(true);
    const ticking = !store.head.finished && view.live();
    if (ticking && timer === undefined) timer = setInterval(drawTime, FRAME_MS);
    if (!ticking) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  /** @type {Batch | null} */
  let taken = null;
  /** @type {ReturnType<typeof connect<Batch>>} */
  const view = connect(context, "batch", {
    draw(data) {
      // Drawn again when the kernel goes, too; by then messages have made the store newer.
      if (data !== taken) store.replace(data);
      taken = data;
      drawRows();
    },
    messages: {
      rows(message) {
        store.patch(message);
        drawRows();
      },
      detail(message) {
        const row = store.rows[message.i];
        if (row) {
          store.rows[message.i] = { ...row, detail: message.detail, output: message.output };
        }
        drawRows();
      },
    },
    dispose: () => clearInterval(timer),
  });
  fill(view.body, frame);
  view.start();
  return () => view.dispose();
}

export default { render };
