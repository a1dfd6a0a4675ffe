/** The registry: every tool in two lines, its parameters on opening. */

/** @import { BaseData, RenderContext } from "../lib/types" */
/** @import { Parameter } from "../lib/parameters.js" */
import { fill, h, keyed, setText } from "../lib/dom.js";
import { duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { parameterTable } from "../lib/parameters.js";
import { prose } from "../lib/prose.js";
import { disclosure } from "../lib/rows.js";

/**
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} description
 * @property {string[]} flags
 * @property {string[]} scopes
 * @property {string} origin
 * @property {string | null} fault
 * @property {Parameter[]} parameters
 * @property {number} calls
 * @property {number} failures
 * @property {number} running
 * @property {{ status: string, word: string, text: string, duration: number } | null} last
 * @property {{ kind: string, word: string, text: string } | null} access
 */

/** @typedef {BaseData & { tools: Tool[] }} Registry */

const FILTER_FROM = 9;
const NAMES_SHOWN = 8;

/** @param {Tool} tool */
function counts(tool) {
  const parts = [tool.calls > 0 ? plural(tool.calls, "call") : "no calls"];
  if (tool.failures > 0) parts.push(`${tool.failures.toLocaleString("en")} failed`);
  return parts.join(", ");
}

/** @param {Tool} tool */
function outcome(tool) {
  if (tool.running > 0) {
    return h("span", { class: "agt-status agt-running" }, `${tool.running} running`);
  }
  const last = tool.last;
  if (!last) return null;
  return h(
    "span",
    { class: `agt-status agt-${last.status}`, title: last.text },
    `${last.word} · ${duration(last.duration)}`,
  );
}

/** @param {Tool} tool */
function names(tool) {
  const shown = tool.parameters.slice(0, NAMES_SHOWN);
  const more = tool.parameters.length - shown.length;
  return h(
    "span",
    { class: "agt-signature agt-mono agt-quiet" },
    "(",
    shown.map((one, index) => [index > 0 && ", ", one.name, !one.required && "?"]),
    more > 0 && `, … ${more} more`,
    ")",
  );
}

/** @param {Tool} tool */
function about(tool) {
  return [
    tool.access && h("div", { class: "agt-prose agt-quiet" }, tool.access.text),
    prose(tool.description.trim().split("\n").slice(1).join("\n")),
    tool.fault ? h("div", { class: "agt-fault" }, tool.fault) : parameterTable(tool.parameters),
    tool.last?.text &&
      h(
        "div",
        { class: "agt-last" },
        h("span", { class: "agt-label" }, "Last outcome"),
        h("span", { class: "agt-mono" }, tool.last.text),
      ),
    h("div", { class: "agt-foot agt-quiet" }, `Defined in ${tool.origin}`),
  ];
}

/** @param {Tool} first */
function row(first) {
  let tool = first;
  const title = h("span", { class: "agt-tool" });
  const right = h("span", { class: "agt-right" });
  const line = h("span", { class: "agt-line agt-quiet" });
  const count = h("span", { class: "agt-count agt-quiet" });
  const body = h("div", { class: "agt-about" });
  const element = disclosure([title, right, line, count], () => {
    fill(body, about(tool));
    return body;
  });
  let drawn = "";
  /** @param {Tool} next */
  const update = (next) => {
    const same = JSON.stringify(next);
    if (same === drawn) return;
    drawn = same;
    tool = next;
    element.classList.toggle("agt-is-off", tool.access?.kind === "off");
    fill(
      title,
      h("span", { class: "agt-mono agt-name" }, tool.name),
      names(tool),
      tool.access &&
        h(
          "span",
          { class: `agt-tag agt-access agt-access-${tool.access.kind}`, title: tool.access.text },
          tool.access.word,
        ),
      [...tool.flags, ...tool.scopes.map((scope) => `scope ${scope}`)].map((flag) =>
        h("span", { class: "agt-tag" }, flag),
      ),
    );
    fill(right, outcome(tool));
    setText(line, tool.fault ?? tool.description.trim().split("\n", 1)[0] ?? "");
    setText(count, counts(tool));
    if (body.isConnected) fill(body, about(tool));
  };
  return Object.assign(element, { update });
}

/** @param {RenderContext} context */
function render(context) {
  let filter = "";
  const total = h("span", { class: "agt-quiet" });
  const box = h("input", {
    class: "agt-input agt-small",
    type: "search",
    placeholder: "Filter",
    "aria-label": "Filter tools",
    on: {
      input: () => {
        filter = box.value.trim().toLowerCase();
        draw(view.data());
      },
    },
  });
  const list = h("div", { class: "agt-list" });
  const empty = h("div", { class: "agt-empty" });

  /** @param {Registry} data */
  const draw = (data) => {
    const tools = data.tools ?? [];
    const shown = tools.filter(
      (tool) =>
        tool.name.toLowerCase().includes(filter) || tool.description.toLowerCase().includes(filter),
    );
    box.hidden = tools.length < FILTER_FROM;
    setText(total, filter ? `${shown.length} of ${tools.length}` : String(tools.length));
    keyed(
      list,
      shown,
      (tool) => tool.name,
      row,
      (element, tool) => element.update(tool),
    );
    empty.hidden = shown.length > 0;
    setText(
      empty,
      tools.length > 0
        ? "No tool matches."
        : "No tools yet: define a function under @tk.tool in a cell.",
    );
  };
  const view = connect(context, "registry", { draw });
  fill(
    view.body,
    h(
      "section",
      { class: "agt-frame", "aria-label": "Tools" },
      h(
        "div",
        { class: "agt-head" },
        h("span", { class: "agt-title" }, "Tools"),
        total,
        h("span", { class: "agt-grow" }),
        box,
      ),
      list,
      empty,
    ),
  );
  view.start();
  return () => view.dispose();
}

export default { render };
