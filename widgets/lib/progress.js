/** What a call reports: its bars, and what it writes, kept in place as more comes. */

import { fill, h, keyed, setText } from "./dom.js";
import { plain } from "./terminal.js";

/**
 * @typedef {object} Bar
 * @property {string} stream
 * @property {number | null} share 0 to 1; null where nobody knows the total
 * @property {string} label "42 of 100"
 * @property {string} text
 */

/** @typedef {[stream: string, text: string]} Piece */

const KEPT = 64_000;

/** @param {Bar} bar "42 %", or how much is done where the total is not known */
export function percent(bar) {
  return bar.share === null ? bar.label : `${Math.floor(bar.share * 100)} %`;
}

/** @param {Bar} first */
function barLine(first) {
  const fillPart = h("span", { class: "agt-fill" });
  const track = h("span", { class: "agt-meter", role: "progressbar" }, fillPart);
  const label = h("span", { class: "agt-quiet agt-barlabel" });
  const text = h("span", { class: "agt-bartext" });
  const element = h("div", { class: "agt-barline" }, track, label, text);
  track.setAttribute("aria-label", first.stream);
  /** @param {Bar} bar */
  const update = (bar) => {
    track.classList.toggle("agt-unknown", bar.share === null);
    if (bar.share === null) track.removeAttribute("aria-valuenow");
    else track.setAttribute("aria-valuenow", String(Math.round(bar.share * 100)));
    track.setAttribute("aria-valuetext", bar.label);
    fillPart.style.setProperty("--share", String(bar.share ?? 1));
    setText(label, bar.share === null ? bar.label : `${percent(bar)} · ${bar.label}`);
    setText(text, bar.text);
  };
  return Object.assign(element, { update });
}

/** Bars one below the other. */
export function barList() {
  const el = h("div", { class: "agt-bars" });
  return {
    el,
    /** @param {Bar[]} bars */
    update(bars) {
      keyed(
        el,
        bars,
        (bar) => bar.stream,
        barLine,
        (element, bar) => element.update(bar),
      );
    },
  };
}

/** Written text that grows at its end, and stays there unless it was scrolled away. */
export function outputBlock() {
  const el = h("pre", {
    class: "agt-pre agt-written",
    tabindex: "0",
    "aria-label": "Output",
    role: "log",
    // Read out line by line, a flood of output would drown everything else.
    "aria-live": "off",
  });
  /** @type {Piece[]} */
  let pieces = [];
  return {
    el,
    /** @param {Piece[]} next */
    replace(next) {
      pieces = [];
      fill(el);
      this.add(next);
    },
    /** @param {Piece[]} more */
    add(more) {
      if (more.length === 0) return;
      const atEnd = el.scrollHeight - el.scrollTop - el.clientHeight < 24;
      for (const [stream, text] of more) {
        const last = pieces.at(-1);
        if (last && last[0] === stream) last[1] += text;
        else pieces.push([stream, text]);
      }
      trim(pieces);
      draw(el, pieces);
      if (atEnd) el.scrollTop = el.scrollHeight;
    },
    get isEmpty() {
      return pieces.length === 0;
    },
  };
}

/** @param {Piece[]} pieces */
function trim(pieces) {
  let left = KEPT;
  for (let index = pieces.length - 1; index >= 0; index -= 1) {
    const piece = /** @type {Piece} */ (pieces[index]);
    if (piece[1].length > left) {
      piece[1] = piece[1].slice(piece[1].length - left);
      pieces.splice(0, index);
      return;
    }
    left -= piece[1].length;
  }
}

/**
 * Bring the spans in step with the pieces; those that have not changed stay as they are.
 *
 * @param {HTMLElement} el
 * @param {Piece[]} pieces
 */
function draw(el, pieces) {
  while (el.children.length > pieces.length) el.firstElementChild?.remove();
  for (const [index, [stream, text]] of pieces.entries()) {
    let span = /** @type {HTMLElement | undefined} */ (el.children[index]);
    if (!span) {
      span = h("span");
      el.append(span);
    }
    const own = stream !== "stdout" && stream !== "stderr";
    span.className = stream === "stderr" ? "agt-stderr" : own ? "agt-own" : "";
    if (own) span.dataset.stream = stream;
    else delete span.dataset.stream;
    setText(span, plain(text));
  }
}
