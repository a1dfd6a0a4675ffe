import { h } from "./dom.js";
import { longText } from "./tree.js";

const WORD_LIMIT = 40;

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
        [
          "Parameter",
          "Type",
          defaults && "Default",
          bounds && "Bounds",
          descriptions && "Description",
        ]
          .filter((title) => title !== false)
          .map((title) => h("th", { scope: "col", ...room(title) }, title)),
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
            { scope: "row", ...room(one.required ? `${one.name}_required` : one.name) },
            h("span", { class: "agt-mono" }, one.name),
            one.required && " ",
            one.required && h("span", { class: "agt-required", title: "required" }, "required"),
          ),
          h("td", { class: "agt-mono", ...room(one.type) }, one.type),
          defaults &&
            h(
              "td",
              { class: "agt-mono", "data-label": "default", ...room(one.default ?? "") },
              one.default ?? "",
            ),
          bounds && h("td", room(one.bounds), one.bounds),
          descriptions && h("td", room(one.description), longText(one.description)),
        ),
      ),
    ),
  );
}

/**
 * Say how long the longest word of a cell is: columns are made narrower than a word only where
 * the table has no room for it.
 *
 * @param {string} text
 */
function room(text) {
  const words = text.split(/\s+/).map((word) => word.length);
  return { style: { "--word": String(Math.min(Math.max(...words), WORD_LIMIT)) } };
}
