/** An answer with many calls: the first ones, those that somebody has to look at, and how many more. */

/** @import { Call, Drawn } from "./types" */
import { h, setText } from "../lib/dom.js";

/** Calls that are shown one by one; of more than these, so many are. */
const MOST = 8;
const SHOWN = 5;

/**
 * @param {HTMLElement} el where the cards stand
 * @param {Drawn<Call>[]} cards
 */
export function folded(el, cards) {
  let open = false;
  /** @type {Call[]} */
  let calls = [];
  const words = h("span", { class: "agt-quiet" });
  const button = h(
    "button",
    {
      class: "agt-link",
      type: "button",
      "aria-expanded": "false",
      on: {
        click: () => {
          open = !open;
          draw();
        },
      },
    },
    "",
  );
  const line = h("div", { class: "agt-morecalls" }, button, words);
  const draw = () => {
    const many = calls.length > MOST;
    let left = 0;
    for (const [at, card] of cards.entries()) {
      const call = calls[at];
      const hide = many && !open && at >= SHOWN && call?.status !== "asking" && !call?.child;
      card.el.hidden = hide;
      if (hide) left += 1;
    }
    if (many && line !== el.lastElementChild) el.append(line);
    line.hidden = !many;
    setText(button, open ? "Show fewer calls" : `Show ${left} more calls`);
    button.setAttribute("aria-expanded", String(open));
    setText(words, countWords(calls));
  };
  return {
    /** @param {Call[]} next */
    update(next) {
      calls = next;
      draw();
    },
  };
}

const NAMES = /** @type {const} */ ({
  ok: "ok",
  error: "failed",
  invalid: "did not fit",
  denied: "denied",
  cancelled: "cancelled",
  running: "running",
  asking: "ask you",
  waiting: "waiting",
});

/** "47 ok · 3 failed": what became of all of them. @param {Call[]} calls */
export function countWords(calls) {
  return Object.entries(NAMES)
    .map(([status, name]) => [calls.filter((call) => call.status === status).length, name])
    .filter(([count]) => count)
    .map(([count, name]) => `${count} ${name}`)
    .join(" · ");
}
