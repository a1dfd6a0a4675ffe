/** A tool's card. */

/** @import { BaseData, RenderContext } from "../lib/types" */
/** @import { Parameter } from "../lib/parameters.js" */
import { jsonCode } from "../lib/code.js";
import { copyButton } from "../lib/copy.js";
import { fill, h } from "../lib/dom.js";
import { connect } from "../lib/model.js";
import { parameterTable } from "../lib/parameters.js";
import { prose } from "../lib/prose.js";
import { tabs } from "../lib/tabs.js";

/**
 * @typedef {BaseData & {
 *   name: string,
 *   description: string,
 *   flags: string[],
 *   scopes: string[],
 *   origin: string,
 *   fault: string | null,
 *   parameters: Parameter[],
 *   texts: { title: string, text: string }[],
 * }} Card
 */

/** @param {Card} data */
function head(data) {
  return h(
    "div",
    { class: "agt-head" },
    h("span", { class: "agt-title agt-mono agt-name" }, data.name),
    h(
      "span",
      { class: "agt-tags" },
      data.flags.map((flag) => h("span", { class: "agt-tag" }, flag)),
      data.scopes.map((scope) => h("span", { class: "agt-tag" }, `scope ${scope}`)),
    ),
    h("span", { class: "agt-quiet agt-origin" }, data.origin),
  );
}

/** @param {Card} data */
function sent(data) {
  const items = data.texts.map(({ title, text }) => ({
    id: title.toLowerCase().replaceAll(" ", "-"),
    title,
    body: () =>
      h(
        "div",
        { class: "agt-sent" },
        copyButton(() => text, title),
        jsonCode(text),
      ),
  }));
  return tabs("Schema and what each provider is sent", items).el;
}

/** @param {RenderContext} context */
function render(context) {
  let drawn = -1;
  /** @type {ReturnType<typeof connect<Card>>} */
  const view = connect(context, "card", {
    draw(data) {
      if (data.rev === drawn) return;
      drawn = data.rev;
      fill(
        view.body,
        h(
          "section",
          { class: "agt-frame", "aria-label": `Tool ${data.name}` },
          head(data),
          prose(data.description),
          data.fault && h("div", { class: "agt-fault", role: "alert" }, data.fault),
          !data.fault && parameterTable(data.parameters),
          data.texts.length > 0 && sent(data),
        ),
      );
    },
  });
  view.start();
  return () => view.dispose();
}

export default { render };
