/** What a row shows when it is open: arguments, outcome, printed text. */

/** @import { Child, MediaPart } from "./types" */
/** @import { Bar, Piece } from "./progress.js" */
import { copyButton } from "./copy.js";
import { h } from "./dom.js";
import { mediaOf } from "./media.js";
import { barList, outputBlock } from "./progress.js";
import { plain } from "./terminal.js";
import { jsonTree, longText } from "./tree.js";

/**
 * @typedef {object} Detail
 * @property {string} sent arguments as they came
 * @property {string} sent_note
 * @property {string} [got] arguments as the tool gets them, JSON text
 * @property {string} [got_note]
 * @property {[pointer: string, before: string, after: string, rule: string][]} changes
 * @property {string} [result] JSON text
 * @property {string} [result_note]
 * @property {string} [error] what the model sees
 * @property {string} [error_note]
 * @property {{ pointer: string, expected: string, got: string }[]} [faults]
 * @property {string} [traceback]
 * @property {MediaPart[]} [media]
 * @property {string} [media_note]
 * @property {string} [stdout]
 * @property {string} [stdout_note]
 * @property {string} [stderr]
 * @property {string} [stderr_note]
 * @property {string} [warnings]
 * @property {string} [warnings_note]
 * @property {string[]} [notes]
 * @property {Bar[]} [bars] how far it came
 * @property {Piece[]} [output] what it wrote beside what it printed
 * @property {string} [output_note]
 */

/**
 * @param {Detail} detail
 * @returns {HTMLElement}
 */
export function detailOf(detail) {
  return h(
    "div",
    { class: "agt-detail" },
    argumentsOf(detail),
    detail.result !== undefined &&
      section(
        "Result",
        detail.result_note,
        jsonTree(detail.result, { open: 2 }),
        copyButton(() => detail.result ?? "", "result"),
      ),
    detail.media &&
      detail.media.length > 0 &&
      section("Media", detail.media_note, mediaOf(detail.media)),
    detail.error !== undefined &&
      section(
        "Error",
        detail.error_note,
        [
          h("div", { class: "agt-quiet agt-caption" }, "as the model sees it"),
          h("div", { class: "agt-errortext agt-mono" }, longText(detail.error)),
        ],
        copyButton(() => detail.error ?? "", "error"),
      ),
    detail.faults && detail.faults.length > 0 && section("Faults", "", faults(detail.faults)),
    detail.traceback &&
      section(
        "Traceback",
        "",
        h(
          "details",
          null,
          h("summary", { class: "agt-quiet" }, "for the tool's author; the model never sees it"),
          h("pre", { class: "agt-pre" }, detail.traceback),
        ),
      ),
    ended(detail),
    detail.stdout && printed("Printed", detail.stdout, detail.stdout_note),
    detail.stderr && printed("stderr", detail.stderr, detail.stderr_note),
    detail.warnings && printed("Warnings", detail.warnings, detail.warnings_note),
    detail.notes &&
      detail.notes.length > 0 &&
      section(
        "Notes",
        "",
        detail.notes.map((note) => h("div", null, note)),
      ),
  );
}

/** What the call had reported, once it has ended. @param {Detail} detail */
function ended({ bars = [], output = [], output_note }) {
  const barsOf = barList();
  barsOf.update(bars);
  const block = outputBlock();
  block.replace(output.map(([stream, text]) => [stream, text]));
  return [
    bars.length > 0 && section("Progress", "", barsOf.el),
    (output.length > 0 || output_note) &&
      section(
        "Output",
        output_note,
        output.length > 0 && block.el,
        output.length > 0 &&
          copyButton(() => output.map(([, text]) => plain(text)).join(""), "output"),
      ),
  ];
}

/**
 * What a running call reports. The parts come when there is something in them.
 */
export function runningParts() {
  const bars = barList();
  const block = outputBlock();
  const barsPart = section("Progress", "", bars.el);
  const outputPart = section("Output", "", block.el);
  const el = h("div", { class: "agt-live" }, barsPart, outputPart);
  let upto = 0;
  const show = () => {
    barsPart.hidden = bars.el.childElementCount === 0;
    outputPart.hidden = block.isEmpty;
    el.hidden = barsPart.hidden && outputPart.hidden;
  };
  show();
  return {
    el,
    /**
     * @param {Bar[]} next
     * @param {import("../batch/store.js").Output | undefined} output
     */
    update(next, output) {
      bars.update(next);
      if (output && output.from < upto && output.to > upto) {
        block.replace(output.pieces);
      } else if (output && output.from >= upto) {
        const gap = output.from - upto;
        if (gap > 0) block.add([["…", `${gap.toLocaleString("en")} characters left out\n`]]);
        block.add(output.pieces);
      }
      if (output) upto = Math.max(upto, output.to);
      show();
    },
  };
}

/** @param {Detail} detail */
function argumentsOf(detail) {
  const { changes, got } = detail;
  if (got === undefined || changes.length === 0) {
    return section("Arguments", detail.sent_note, jsonTree(got ?? detail.sent, { open: 2 }));
  }
  const before = new Map(changes.map(([pointer]) => [pointer, ""]));
  const after = new Map(
    changes.map(([pointer, from, , rule]) => [pointer, `was ${from} · ${rule}`]),
  );
  const whole = changes.find(([pointer]) => pointer === "");
  return section(
    "Arguments",
    "",
    h(
      "div",
      { class: "agt-pair" },
      h(
        "div",
        null,
        h("div", { class: "agt-quiet agt-caption" }, "as sent"),
        jsonTree(detail.sent, { open: 2, marks: before }),
        remark(detail.sent_note),
      ),
      h(
        "div",
        null,
        h(
          "div",
          { class: "agt-quiet agt-caption" },
          whole ? `as the tool got them: ${whole[3]}` : "as the tool got them",
        ),
        jsonTree(got, { open: 2, marks: after }),
        remark(detail.got_note),
      ),
    ),
  );
}

/** @param {string | undefined} note what was left out */
function remark(note) {
  return note ? h("div", { class: "agt-note agt-quiet" }, note) : null;
}

/**
 * @param {string} title
 * @param {string} text
 * @param {string | undefined} note
 */
function printed(title, text, note) {
  return section(
    title,
    note,
    h("pre", { class: "agt-pre", tabindex: "0" }, text),
    copyButton(() => text, title),
  );
}

/** @param {NonNullable<Detail["faults"]>} list */
function faults(list) {
  return h(
    "table",
    { class: "agt-table" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        ["Where", "Expected", "Got"].map((title) => h("th", { scope: "col" }, title)),
      ),
    ),
    h(
      "tbody",
      null,
      list.map((fault) =>
        h(
          "tr",
          null,
          h("td", { class: "agt-mono" }, fault.pointer || "(all)"),
          h("td", null, fault.expected),
          h("td", { class: "agt-mono" }, fault.got),
        ),
      ),
    ),
  );
}

/**
 * @param {string} title
 * @param {string | undefined} note what was left out
 * @param {Child} content
 * @param {Child} [action]
 */
function section(title, note, content, action = null) {
  return h(
    "div",
    { class: "agt-part" },
    h("div", { class: "agt-label" }, title),
    h(
      "div",
      { class: "agt-partbody" },
      h("div", { class: "agt-value" }, content, remark(note)),
      action,
    ),
  );
}
