import { h } from "./dom.js";
import { longText } from "./tree.js";

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {boolean} required
 * @property {string} type
 * @property {string} bounds
 * @property {string | null} default JSON text
 * @property {string} description
 */

/**
 * What a tool takes, as a table; in a narrow cell each parameter is a block of its own.
 *
 * @param {Parameter[]} parameters
 * @returns {HTMLElement}
 */
export function parameterTable(parameters) {
  if (parameters.length === 0) return h("p", { class: "agt-empty" }, "Takes no arguments.");
  const has = (/** @type {(one: Parameter) => unknown} */ part) => parameters.some(part);
  const bounds = has((one) => one.bounds);
  const defaults = has((one) => one.default !== null);
  const descriptions = has((one) => one.description);
  return h(
    "table",
    { class: "agt-table agt-parameters" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "Parameter"),
        h("th", { scope: "col" }, "Type"),
        defaults && h("th", { scope: "col" }, "Default"),
        bounds && h("th", { scope: "col" }, "Bounds"),
        descriptions && h("th", { scope: "col" }, "Description"),
      ),
    ),
    h(
      "tbody",
      null,
      parameters.map((one) =>
        h(
          "tr",
          null,
          h(
            "th",
            { scope: "row" },
            h("span", { class: "agt-mono" }, one.name),
            one.required
              ? h("span", { class: "agt-required", title: "required" }, "required")
              : null,
          ),
          h("td", { class: "agt-mono" }, one.type),
          defaults && h("td", { class: "agt-mono", "data-label": "default" }, one.default ?? ""),
          bounds && h("td", null, one.bounds),
          descriptions && h("td", null, longText(one.description)),
        ),
      ),
    ),
  );
}
