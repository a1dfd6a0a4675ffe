/** Who wrote what and when, in words. */

/** @import { By, PlacedWrite, Write } from "./types" */
import { h } from "../lib/dom.js";
import { clock } from "../lib/format.js";

/** @param {Write} write */
export function who(write) {
  return write.tool ?? "notebook";
}

/** @param {Write} write */
export function about(write) {
  const call = write.call ? `, call ${write.call}` : "";
  return `write ${write.seq}: ${write.operation} by ${who(write)}${call}, ${clock(write.at)}`;
}

/**
 * A time that the view's ticking keeps in words: "12 s ago".
 *
 * @param {number} at Unix time in seconds
 */
export function time(at) {
  return h("time", { class: "agt-ago", "data-at": at, title: clock(at) });
}

/** @param {Write} write */
export function what(write) {
  return write.text === "" ? write.operation : write.text;
}

/**
 * A write's number, which leads to its step.
 *
 * @param {PlacedWrite} write
 * @param {(steps: Record<By, number>) => void} go
 */
export function stepLink(write, go) {
  return h(
    "button",
    {
      class: "agt-link",
      type: "button",
      "aria-label": `Show the state after write ${write.seq}`,
      on: { click: () => go(write.steps) },
    },
    `#${write.seq}`,
  );
}
