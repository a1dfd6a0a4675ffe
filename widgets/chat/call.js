/** The card of one call: its arguments, how far it is, and what came of it. */

/** @import { Call, Drawn, Entry, Place } from "./types" */
import { detailOf, runningParts } from "../lib/detail.js";
import { fill, h, setText } from "../lib/dom.js";
import { duration } from "../lib/format.js";
import { mediaOf } from "../lib/media.js";
import { percent } from "../lib/progress.js";
import { disclosure } from "../lib/rows.js";

const WORDS = {
  waiting: "waiting",
  asking: "asks you",
  running: "running",
  ok: "ok",
  error: "error",
  invalid: "does not fit",
  cancelled: "cancelled",
  denied: "denied",
};

/**
 * @param {Place} place
 * @param {number} list
 * @param {number} n of the entry
 * @param {Call} first
 * @param {(list: number) => Drawn<Entry[]>} transcript draws what a subagent says
 * @returns {Drawn<Call>}
 */
export function callCard(place, list, n, first, transcript) {
  let call = first;
  const status = h("span", { class: "agt-status" });
  const name = h("span", { class: "agt-mono agt-callname" });
  const args = h("span", { class: "agt-mono agt-quiet agt-callargs" });
  const coerced = h("span", { class: "agt-tag", title: "arguments that were converted" });
  const repair = h("span", { class: "agt-tag agt-repair" });
  const took = h("span", { class: "agt-took agt-quiet" });
  const outcome = h("span", { class: "agt-mono agt-callresult" });
  const strip = h("span", { class: "agt-strip", "aria-hidden": "true", hidden: true });
  const details = h("div");
  const running = runningParts();
  const body = h("div", null, details, running.el);
  const row = disclosure(
    [
      h("span", { class: "agt-call" }, name, args),
      h("span", { class: "agt-marks" }, coerced, repair, status, took),
      outcome,
      strip,
    ],
    () => {
      drawBody();
      return body;
    },
    (open) => {
      if (open) ask();
      drawMedia(open);
    },
  );
  const cards = h("div", { class: "agt-callcards", hidden: true });
  const child = h("div", { class: "agt-child", hidden: true });
  const media = h("div", { class: "agt-callmedia", hidden: true });
  const el = h("div", { class: "agt-callcard" }, row, media, cards, child);
  /** @type {Map<string, () => void>} */
  const mounted = new Map();
  /** @type {Drawn<Entry[]> | undefined} */
  let nested;

  const ask = () => {
    if (call.detail) return;
    if (place.live()) place.send("open", { list, n, i: call.i });
    else drawBody();
  };
  const drawBody = () => {
    const words = place.live()
      ? "Loading…"
      : "The details are in the kernel, which is not connected.";
    fill(details, call.detail ? detailOf(call.detail) : h("div", { class: "agt-empty" }, words));
  };
  /** Pictures are seen at once; the open card has a place of its own for them. @param {boolean} open */
  const drawMedia = (open) => {
    if (call.media?.length && !media.hasChildNodes()) fill(media, mediaOf(call.media));
    media.hidden = open || !call.media?.length;
  };
  const drawCards = () => {
    const wanted = call.cards ?? [];
    for (const [id, remove] of mounted) {
      if (wanted.includes(id)) continue;
      remove();
      mounted.delete(id);
    }
    for (const id of wanted) {
      if (mounted.has(id)) continue;
      const slot = h("div", { class: "agt-cardplace" });
      cards.append(slot);
      mounted.set(id, place.mount(id, slot));
    }
    cards.hidden = wanted.length === 0;
  };
  const drawChild = () => {
    if (call.child === undefined) return;
    if (!nested) {
      nested = transcript(call.child);
      const label = h("div", { class: "agt-label" }, "Subagent", h("b", null, call.agent ?? ""));
      fill(child, label, nested.el);
      child.hidden = false;
    }
    nested.update(place.list(call.child));
  };
  const drawRunning = () => {
    const bar = call.bars?.[0];
    strip.hidden = bar === undefined || bar.share === null;
    if (bar) strip.style.setProperty("--share", String(bar.share ?? 0));
    running.update(call.bars ?? [], call.output);
    if (call.status !== "running") running.el.hidden = true;
    const ran = call.duration !== undefined && (call.duration > 0 || call.status !== "cancelled");
    if (call.duration !== undefined) setText(took, ran ? duration(call.duration) : "");
    else setText(took, bar ? percent(bar) : "");
  };

  /** @type {Call | undefined} */
  let drawn;
  return {
    el,
    update(next) {
      if (next === drawn) {
        drawChild();
        return;
      }
      const was = drawn;
      drawn = call = next;
      el.dataset.status = call.status;
      status.className = `agt-status agt-${call.status}`;
      setText(status, WORDS[call.status]);
      setText(name, call.name);
      setText(args, call.args);
      setText(coerced, `${call.changes} coerced`);
      coerced.hidden = call.changes === 0;
      const left = (call.of ?? 0) - (call.repair ?? 0);
      setText(repair, left < 0 ? "no repair left" : `repair ${call.repair} of ${call.of}`);
      repair.hidden = !call.repair;
      repair.title = "The model is told what does not fit, and may call again";
      setText(outcome, call.outcome ?? call.line ?? "");
      outcome.classList.toggle(
        "agt-bad",
        ["error", "invalid", "denied", "cancelled"].includes(call.status),
      );
      drawRunning();
      drawCards();
      drawChild();
      drawMedia(body.isConnected);
      if (!body.isConnected) return;
      if (was && was.status !== call.status && !call.detail) ask();
      else if (call.detail !== was?.detail) drawBody();
    },
    dispose() {
      for (const remove of mounted.values()) remove();
      nested?.dispose();
    },
  };
}
