/** The slider through the past, and what the step it stands on had changed. */

/** @import { By, Moment, State } from "./types" */
import { fill, h, setText } from "../lib/dom.js";
import { clock, plural } from "../lib/format.js";
import { changeList } from "./changes.js";
import { who } from "./words.js";

// An answer that has not come by then never will: asking it failed in Python, which says so.
const PATIENCE_MS = 3000;

/**
 * @param {{
 *   look: (by: By, at: number) => void,
 *   left: () => void,
 * }} options `look`: ask for a moment; `left`: the present is shown again
 */
export function historyBar({ look, left }) {
  /** @type {By} */
  let by = "call";
  /** @type {number | null} */
  let wanted = null;
  /** @type {number | null} what was asked for and has not come */
  let asked = null;
  let askedAt = 0;
  let [first, last] = [1, 0];
  /** @type {Moment | null} */
  let moment = null;

  /**
   * @param {string} label
   * @param {string} sign
   * @param {() => void} action
   */
  const arrow = (label, sign, action) =>
    h(
      "button",
      {
        class: "agt-button agt-small agt-arrow",
        type: "button",
        "aria-label": label,
        title: label,
        on: { click: action },
      },
      sign,
    );
  const back = arrow("One step back", "‹", () => go((wanted ?? last) - 1));
  const forth = arrow("One step on", "›", () => go((wanted ?? last) + 1));
  const range = h("input", {
    class: "agt-range",
    type: "range",
    "aria-label": "History",
    step: 1,
    on: { input: () => go(Number(range.value)) },
  });
  const place = h("span", { class: "agt-quiet agt-where" });
  const kind = h(
    "select",
    {
      class: "agt-input agt-small",
      "aria-label": "One step is",
      on: {
        change: () => {
          by = /** @type {By} */ (kind.value);
          if (moment) show(moment.steps);
          else leave();
        },
      },
    },
    h("option", { value: "call" }, "by call"),
    h("option", { value: "write" }, "by write"),
  );
  const now = h(
    "button",
    { class: "agt-button agt-small", type: "button", on: { click: () => leave() } },
    "Back to now",
  );
  const about = h("div", { class: "agt-step", role: "status" });
  const changes = h("div", { class: "agt-stepchanges" });
  const past = h("div", { class: "agt-moment", hidden: true }, about, changes);
  const el = h(
    "div",
    { class: "agt-history" },
    h("div", { class: "agt-timeline" }, back, forth, range, place, kind, now),
    past,
  );

  /** @param {number} at */
  const go = (at) => {
    const to = Math.min(Math.max(at, first - 1), last);
    if (to === last) {
      leave();
      return;
    }
    wanted = to;
    ask();
    drawBar();
  };

  // One question at a time: a slider that is dragged moves much faster than answers come.
  const ask = () => {
    const isOpen = asked !== null && performance.now() - askedAt < PATIENCE_MS;
    if (wanted === null || isOpen) return;
    asked = wanted;
    askedAt = performance.now();
    look(by, wanted);
  };

  const leave = () => {
    wanted = asked = moment = null;
    draw();
    left();
  };

  /** Show the state after a step, of the kind that is chosen. @param {Record<By, number>} steps */
  const show = (steps) => {
    asked = null;
    wanted = steps[by];
    ask();
  };

  const drawBar = () => {
    range.min = String(first - 1);
    range.max = String(last);
    const at = wanted ?? last;
    range.value = String(at);
    const share = last < first ? 1 : (at - first + 1) / (last - first + 1);
    range.style.setProperty("--share", String(share));
    const text =
      wanted === null ? "now" : `${at.toLocaleString("en")} of ${last.toLocaleString("en")}`;
    setText(place, text);
    range.setAttribute("aria-valuetext", wanted === null ? "now" : `after ${by} ${text}`);
    back.disabled = at < first;
    forth.disabled = now.disabled = wanted === null;
  };

  const draw = () => {
    drawBar();
    past.hidden = moment === null;
    if (!moment) return;
    fill(about, ...sentence(moment));
    const none = moment.write ? "This step changed nothing." : "";
    fill(changes, changeList(moment, none));
  };

  return {
    el,
    get moment() {
      return moment;
    },
    /** The position that is shown: none in the present. */
    get position() {
      return moment && { by: moment.by, at: moment.at };
    },
    /** @param {State} data @param {boolean} live */
    update(data, live) {
      [first, last] = data.steps?.[by] ?? [1, 0];
      el.hidden = last < first;
      if (wanted !== null && wanted < first - 1) wanted = first - 1;
      range.disabled = kind.disabled = !live;
      drawBar();
      if (!live) {
        back.disabled = forth.disabled = true;
      }
    },
    show,
    /** @param {Moment} answer @returns {boolean} whether it was this one's question */
    take(answer) {
      if (answer.by !== by || answer.at !== asked) return false;
      asked = null;
      moment = answer;
      draw();
      if (wanted !== answer.at) ask();
      return true;
    },
  };
}

/** @param {Moment} moment */
function sentence({ write, writes }) {
  if (!write) return [h("span", null, "Before the first step that is kept")];
  return [
    h("span", null, "After "),
    h("strong", null, writes === 1 ? `write #${write.seq}` : plural(writes, "write")),
    h("span", null, " by "),
    h("strong", null, who(write)),
    write.call && h("span", { class: "agt-quiet agt-mono" }, ` ${write.call}`),
    h("span", { class: "agt-quiet" }, ` · ${clock(write.at)}`),
  ];
}
