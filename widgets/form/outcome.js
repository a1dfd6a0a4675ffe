/** The arguments as they came and as the tool gets them; and what came of running it. */

/** @import { Line, Outcome } from "./types" */
import { copyButton } from "../lib/copy.js";
import { h } from "../lib/dom.js";
import { duration } from "../lib/format.js";
import { mediaOf } from "../lib/media.js";
import { jsonTree, longText } from "../lib/tree.js";

const WORDS = {
  ok: "ok",
  error: "error",
  invalid: "invalid arguments",
  cancelled: "cancelled",
  denied: "denied",
};

/** @param {string} title @param {Line[]} lines @param {string} [remark] */
export function lineColumn(title, lines, remark) {
  return h(
    "section",
    { class: "agt-column" },
    h("div", { class: "agt-label" }, title, remark && h("span", { class: "agt-same" }, remark)),
    h(
      "div",
      { class: "agt-lines agt-mono", tabindex: "0", "aria-label": title },
      lines.map((line) =>
        h(
          "div",
          { class: line.m ? `agt-codeline agt-is-${line.m}` : "agt-codeline" },
          h("span", null, line.t),
          line.n && h("span", { class: "agt-mark" }, line.n),
        ),
      ),
    ),
  );
}

/** Two boxes of lines scroll as one. @param {HTMLElement[]} boxes */
export function scrollTogether(boxes) {
  for (const box of boxes) {
    box.addEventListener("scroll", () => {
      for (const other of boxes) if (other !== box) other.scrollTop = box.scrollTop;
    });
  }
}

/** @param {Outcome} outcome */
export function outcomeOf(outcome) {
  const { result, error, stdout, stderr, traceback } = outcome;
  return h(
    "div",
    { class: outcome.stale ? "agt-outcome agt-stale" : "agt-outcome" },
    h(
      "div",
      { class: "agt-outcomehead" },
      h("span", { class: `agt-status agt-${outcome.status}` }, WORDS[outcome.status]),
      h("span", { class: "agt-quiet" }, duration(outcome.duration)),
      outcome.stale && h("span", { class: "agt-quiet" }, "· the arguments have changed since"),
      h("span", { class: "agt-grow" }),
      copyButton(() => result ?? error ?? "", error === undefined ? "result" : "error"),
    ),
    result !== undefined && jsonTree(result, { open: 2 }),
    note(outcome.result_note),
    outcome.media && mediaOf(outcome.media),
    note(outcome.media_note),
    error !== undefined && [
      h("div", { class: "agt-label" }, "What the model sees"),
      h("div", { class: "agt-errortext agt-mono" }, longText(error)),
      note(outcome.error_note),
    ],
    traceback && folded("Traceback: for you, the model never sees it", traceback),
    stdout && printed("Printed", stdout, outcome.stdout_note),
    stderr && printed("stderr", stderr, outcome.stderr_note),
    outcome.warnings && printed("Warnings", outcome.warnings, outcome.warnings_note),
    (outcome.notes ?? []).map((text) => note(text)),
  );
}

/** @param {string | undefined} text */
const note = (text) => (text ? h("div", { class: "agt-quiet" }, text) : null);

/** @param {string} title @param {string} text @param {string | undefined} remark */
const printed = (title, text, remark) => [
  h("div", { class: "agt-label" }, title),
  h("pre", { class: "agt-pre agt-printed", tabindex: "0" }, text),
  note(remark),
];

/** @param {string} title @param {string} text */
const folded = (title, text) =>
  h(
    "details",
    null,
    h("summary", { class: "agt-quiet" }, title),
    h("pre", { class: "agt-pre" }, text),
  );
