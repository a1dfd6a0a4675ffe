/** JSON that keeps every number as it was written: 9007199254740993 stays what it is. */

/** @import { JsonNode } from "./types" */

const TOKEN = /\s*([{}[\],:]|"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;

/**
 * Read JSON text. Nesting costs no stack.
 *
 * @param {string} text
 * @returns {JsonNode}
 * @throws {SyntaxError} `text` is not JSON.
 */
export function parseJson(text) {
  let position = 0;
  const next = () => {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(text)?.[1];
    if (token === undefined) throw new SyntaxError(`not JSON at character ${position}`);
    position = TOKEN.lastIndex;
    return token;
  };
  /** @type {Extract<JsonNode, { kind: "object" | "array" }>[]} */
  const open = [];
  let token = next();
  let afterComma = false;
  for (;;) {
    /** @type {JsonNode} */
    let node;
    let name = "";
    const parent = open.at(-1);
    const closes = token === "}" || token === "]";
    if (closes) {
      const wanted = parent?.kind === "object" ? "}" : "]";
      const last = open.pop();
      if (!last || token !== wanted || afterComma) throw new SyntaxError(`unexpected ${token}`);
      node = last;
    } else {
      if (parent?.kind === "object") {
        if (!token.startsWith('"')) throw new SyntaxError(`expected a name, not ${token}`);
        name = JSON.parse(token);
        if (next() !== ":") throw new SyntaxError("expected :");
        token = next();
      }
      node = leafOrContainer(token);
      if (parent?.kind === "object") parent.entries.push([name, node]);
      else if (parent?.kind === "array") parent.items.push(node);
      if (node.kind === "object" || node.kind === "array") {
        open.push(node);
        token = next();
        afterComma = false;
        continue;
      }
    }
    if (open.length === 0) {
      if (/\S/.test(text.slice(position))) throw new SyntaxError("more after the end");
      return node;
    }
    token = next();
    afterComma = token === ",";
    if (afterComma) token = next();
    else if (token !== "}" && token !== "]") throw new SyntaxError(`expected , not ${token}`);
  }
}

/**
 * @param {string} token
 * @returns {JsonNode}
 */
function leafOrContainer(token) {
  if (token === "{") return { kind: "object", entries: [] };
  if (token === "[") return { kind: "array", items: [] };
  if (token.startsWith('"')) return { kind: "string", text: JSON.parse(token) };
  if (token === "true" || token === "false" || token === "null")
    return { kind: "word", text: token };
  if (/^[-\d]/.test(token)) return { kind: "number", text: token };
  throw new SyntaxError(`unexpected ${token}`);
}

/**
 * Write a node on one line, at most about `limit` characters.
 *
 * @param {JsonNode} node
 * @param {number} [limit]
 * @returns {string}
 */
export function brief(node, limit = 60) {
  if (node.kind === "string") {
    const text = node.text.length > limit ? `${node.text.slice(0, limit)}…` : node.text;
    return JSON.stringify(text);
  }
  if (node.kind === "number" || node.kind === "word") {
    return node.text.length > limit ? `${node.text.slice(0, limit)}…` : node.text;
  }
  const object = node.kind === "object";
  const count = object ? node.entries.length : node.items.length;
  let out = object ? "{" : "[";
  for (let index = 0; index < count; index += 1) {
    if (out.length >= limit) {
      out += "…";
      break;
    }
    const entry = object ? node.entries[index] : undefined;
    const child = /** @type {JsonNode} */ (
      object ? entry?.[1] : /** @type {any} */ (node).items[index]
    );
    const label = entry ? `${entry[0]}: ` : "";
    const inner = limit - out.length > 8 ? brief(child, limit - out.length - label.length) : "…";
    out += `${index ? ", " : ""}${label}${inner}`;
  }
  return out + (object ? "}" : "]");
}
