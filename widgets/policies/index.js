/** The rules in order of precedence, and which of them decides about a call. */

/** @import { BaseData, RenderContext } from "../lib/types" */
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { seen } from "../lib/unseen.js";

/** @typedef {{ kind: string, target: string, when: string, name: string, reason: string }} Rule */
/** @typedef {{ matched: boolean | null, decided: boolean, why: string }} Outcome */
/**
 * @typedef {BaseData & {
 *   rules: Rule[],
 *   off: string[],
 *   tools: { name: string, example: string }[],
 *   first: [string, string] | null,
 *   tried: {
 *     tool: string, kind: string, verdict: string, arguments: string, outcomes: Outcome[],
 *   } | null,
 * }} Policies
 */

const LOOK = /** @type {Record<string, string>} */ ({ allow: "ok", deny: "denied", ask: "asking" });

/** @param {Rule} rule @param {number} at @param {Outcome | undefined} outcome */
function ruleRow(rule, at, outcome) {
  const state = !outcome ? "" : outcome.decided ? " agt-decides" : " agt-passed";
  return h(
    "tr",
    { class: `agt-rulerow${state}` },
    h("td", { class: "agt-quiet agt-at" }, String(at + 1)),
    h("td", null, h("span", { class: `agt-status agt-${LOOK[rule.kind]}` }, rule.kind)),
    h(
      "td",
      null,
      h("span", { class: "agt-mono" }, rule.target === "*" ? "every tool" : seen(rule.target)),
      rule.when && [" ", h("span", { class: "agt-quiet" }, seen(rule.when))],
    ),
    h(
      "td",
      null,
      h("span", { class: "agt-mono agt-rulename" }, seen(rule.name)),
      rule.reason && h("div", { class: "agt-quiet agt-rulereason" }, seen(rule.reason)),
      outcome &&
        h(
          "div",
          { class: "agt-ruleoutcome" },
          outcome.decided && h("strong", null, "decides: "),
          seen(outcome.why),
        ),
    ),
  );
}

/** @param {RenderContext} context */
function render(context) {
  const total = h("span", { class: "agt-quiet" });
  const table = h("tbody");
  const rules = h(
    "table",
    { class: "agt-table agt-rules" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, h("span", { class: "agt-sr" }, "Order")),
        ["Rule", "About calls of", "Name and reason"].map((title) =>
          h("th", { scope: "col" }, title),
        ),
      ),
    ),
    table,
  );
  const empty = h("p", { class: "agt-empty" }, "No rules: every call runs.");
  const off = h("p", { class: "agt-quiet agt-off", hidden: true });
  const id = uniqueId();
  const tool = h("select", {
    class: "agt-input",
    "aria-label": "Tool",
    on: {
      change: () => {
        const one = view.data().tools.find(({ name }) => name === tool.value);
        if (one && !touched) text.value = one.example;
      },
    },
  });
  let touched = false;
  const text = h("textarea", {
    class: "agt-input agt-call",
    rows: 1,
    id,
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "Arguments as JSON",
    on: {
      input: () => {
        touched = true;
      },
      keydown: (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        event.stopPropagation();
        ask();
      },
    },
  });
  const ask = () => view.send("explain", { tool: tool.value, text: text.value });
  const button = h(
    "button",
    { class: "agt-button agt-primary", type: "button", on: { click: ask } },
    "Explain",
  );
  const verdict = h("div", { class: "agt-verdict", role: "status" });
  const trying = h(
    "div",
    { class: "agt-trying" },
    h("div", { class: "agt-label" }, "What would become of a call? Nothing is run."),
    h("div", { class: "agt-tryline" }, tool, text, button),
    verdict,
  );

  let listed = "";
  /** @param {Policies} data */
  const drawTools = (data) => {
    const now = JSON.stringify([data.tools, data.first]);
    if (now === listed) return;
    const chosen = listed ? tool.value : (data.first?.[0] ?? data.tools[0]?.name ?? "");
    const known = data.tools.some(({ name }) => name === chosen);
    const first = listed === "";
    listed = now;
    fill(
      tool,
      data.tools.map(({ name }) => h("option", { value: name }, name)),
      !known && chosen && h("option", { value: chosen }, chosen),
    );
    tool.value = chosen;
    if (first) {
      const example = data.tools.find(({ name }) => name === chosen)?.example ?? "{}";
      text.value = data.first?.[1] ?? example;
    }
  };

  /** @type {ReturnType<typeof connect<Policies>>} */
  const view = connect(context, "policies", {
    draw(data) {
      const tried = data.tried;
      setText(total, plural(data.rules.length, "rule"));
      fill(
        table,
        data.rules.map((rule, at) => ruleRow(rule, at, tried?.outcomes[at])),
      );
      rules.hidden = data.rules.length === 0;
      empty.hidden = data.rules.length > 0;
      setText(off, data.off.length ? `Off, and unknown to a model: ${data.off.join(", ")}` : "");
      off.hidden = data.off.length === 0;
      drawTools(data);
      trying.hidden = data.tools.length === 0 && !data.first;
      for (const one of [tool, text, button]) one.disabled = !view.live();
      const sign = JSON.stringify(tried);
      if (verdict.dataset.sign !== sign) {
        verdict.dataset.sign = sign;
        fill(
          verdict,
          tried &&
            h(
              "span",
              { class: `agt-status agt-${tried.kind}` },
              h("span", null, seen(tried.verdict)),
            ),
          tried?.arguments && [
            h("span", { class: "agt-quiet agt-gets" }, "as the tool would get it: "),
            h("span", { class: "agt-mono" }, seen(`${tried.tool} ${tried.arguments}`)),
          ],
        );
      }
    },
  });
  fill(
    view.body,
    h(
      "section",
      { class: "agt-frame", "aria-label": "Rules" },
      h(
        "div",
        { class: "agt-head" },
        h("span", { class: "agt-title" }, "Who may call what"),
        total,
        h("span", { class: "agt-grow" }),
        h("span", { class: "agt-quiet agt-first" }, "the first that is about a call decides"),
      ),
      rules,
      empty,
      off,
      trying,
    ),
  );
  view.start();
  return () => view.dispose();
}

export default { render };
