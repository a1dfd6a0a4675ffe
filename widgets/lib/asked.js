/** What cards that wait for a person share: how long they wait, and what they come to. */

/** @import { Child } from "./types" */
import { fill, h, setText } from "./dom.js";
import { clock } from "./format.js";
import { disclosure } from "./rows.js";
import { seen } from "./unseen.js";

/** @typedef {{ word: string, kind: string, note: string }} Decision */
/** @typedef {{ left: number | null, rev: number, ended_at: number | null, decision: Decision | null }} Asked */

/**
 * How long it still waits, in words: minutes, then in the last one seconds.
 *
 * @param {number} seconds
 */
export function timeLeft(seconds) {
  if (seconds > 90) return `${Math.round(seconds / 60)} min left`;
  return `${Math.max(Math.ceil(seconds), 0)} s left`;
}

// A card that comes up under the pointer, or moves there since the one above it was answered, must
// not be pressed by a click, or the second half of one, that was meant for what stood there before.
const GUARD_MS = 450;
const MOVED = "agt-cards-moved";

/** Say to all cards of the page that one of them has become smaller. */
export function cardsMoved() {
  window.dispatchEvent(new Event(MOVED));
}

/**
 * Keeps a card from being pressed for a moment after it came or moved.
 *
 * @param {HTMLElement} el the card; while it has the focus, it is left alone
 * @param {() => void} changed
 */
export function guard(el, changed) {
  let on = true;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const arm = () => {
    on = true;
    clearTimeout(timer);
    timer = setTimeout(() => {
      on = false;
      changed();
    }, GUARD_MS);
  };
  const moved = () => {
    if (el.contains(document.activeElement)) return;
    arm();
    changed();
  };
  window.addEventListener(MOVED, moved);
  arm();
  return {
    isOn: () => on,
    dispose() {
      clearTimeout(timer);
      window.removeEventListener(MOVED, moved);
    },
  };
}

/** @param {() => Asked} data */
export function countdown(data) {
  const el = h("span", { class: "agt-quiet agt-timeleft", role: "timer" });
  let rev = -1;
  let until = 0;
  const tick = () => {
    const left = (until - performance.now()) / 1000;
    setText(el, timeLeft(left));
    el.classList.toggle("agt-soon", left < 30);
  };
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  return {
    el,
    update() {
      const now = data();
      el.hidden = now.left === null;
      if (now.left === null) {
        clearInterval(timer);
        timer = undefined;
        return;
      }
      if (now.rev !== rev) {
        rev = now.rev;
        until = performance.now() + now.left * 1000;
      }
      tick();
      timer ??= setInterval(tick, 500);
    },
    dispose: () => clearInterval(timer),
  };
}

/**
 * An answered card: one quiet line, which opens.
 *
 * @param {() => Child} body
 */
export function answered(body) {
  const status = h("span", { class: "agt-status" });
  const name = h("span", { class: "agt-mono agt-name" });
  const brief = h("span", { class: "agt-mono agt-quiet agt-brief" });
  const at = h("span", { class: "agt-quiet agt-at" });
  const note = h("span", { class: "agt-quiet agt-said" });
  const row = disclosure(
    [status, h("span", { class: "agt-what" }, name, " ", brief), at, note],
    () => h("div", { class: "agt-decided" }, body()),
  );
  return {
    el: h("section", { class: "agt-frame agt-answered" }, row),
    focus: () => row.querySelector("button")?.focus(),
    /** @param {Asked} data @param {string} title @param {string} line */
    update(data, title, line) {
      const decision = data.decision;
      status.className = `agt-status agt-${decision?.kind ?? "waiting"}`;
      setText(status, decision?.word ?? "");
      fill(name, seen(title));
      fill(brief, seen(line));
      setText(at, data.ended_at === null ? "" : clock(data.ended_at));
      fill(note, seen(decision?.note ?? ""));
      note.hidden = !decision?.note;
    },
  };
}
