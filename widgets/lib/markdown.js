/** Markdown as DOM. The text is a model's: nothing in it becomes HTML, runs, or is fetched. */

import MarkdownIt from "markdown-it";
import { copyButton } from "./copy.js";
import { fill, h } from "./dom.js";
import { longText } from "./tree.js";

/** @typedef {ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number]} Token */

const LONGEST = 100_000;
const MAX_DEPTH = 20;
// The part of the time that drawing text may take while it streams in.
const SHARE = 0.2;

const LINK = /^(?:https?:\/\/|mailto:)/i;
const TAGS = new Set(
  "p ul ol li blockquote table thead tbody tr th td strong em s hr br code".split(" "),
);

const reader = new MarkdownIt({ html: false, linkify: true, breaks: true, maxNesting: MAX_DEPTH });
// What is no plain address stays the text that it is.
reader.validateLink = (address) => LINK.test(address.trim());
reader.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/**
 * Text that may grow. Only its last block is read again as more comes.
 *
 * @returns {{ el: HTMLElement, update: (text: string, whole: boolean) => void, dispose: () => void }}
 */
export function markdown() {
  const el = h("div", { class: "agt-markdown", dir: "auto" });
  /** Characters up to the last block, which is all that may still change. */
  let settled = 0;
  /** The elements of what is settled. */
  let kept = 0;
  let shown = "";
  let isWhole = true;
  let isPlain = false;
  let next = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const draw = (/** @type {string} */ text, /** @type {boolean} */ whole) => {
    const began = performance.now();
    if (text.length > LONGEST) {
      // A person reads no such text, and a parser need not either.
      if (whole || !isPlain) fill(el, longText(text));
      isPlain = true;
    } else {
      isPlain = false;
      // Definitions at its end may change links at its beginning.
      if (whole || !text.startsWith(shown.slice(0, settled))) settled = kept = 0;
      const { nodes, last } = blocksOf(text.slice(settled));
      while (el.childNodes.length > kept) el.lastChild?.remove();
      el.append(...nodes);
      if (nodes.length > 1) {
        kept += nodes.length - 1;
        settled += last;
      }
    }
    shown = text;
    isWhole = whole;
    const cost = performance.now() - began;
    next = performance.now() + cost / SHARE;
  };

  return {
    el,
    update(text, whole) {
      if (text === shown && whole === isWhole) return;
      clearTimeout(timer);
      const wait = next - performance.now();
      if (whole || wait <= 0) draw(text, whole);
      else timer = setTimeout(() => draw(text, whole), wait);
    },
    dispose: () => clearTimeout(timer),
  };
}

/**
 * The blocks of a text, an element each, and at which character the last one begins.
 *
 * @param {string} text
 */
export function blocksOf(text) {
  const tokens = reader.parse(text, {});
  /** @type {HTMLElement[]} */
  const nodes = [];
  let begin = 0;
  let line = 0;
  for (let at = 0; at < tokens.length; ) {
    const end = closing(tokens, at);
    line = tokens[at]?.map?.[0] ?? line;
    const holder = h("div");
    build(holder, tokens.slice(at, end));
    const node = holder.firstElementChild;
    if (node instanceof HTMLElement) nodes.push(node);
    at = end;
  }
  for (let count = 0; count < line; count += 1) begin = text.indexOf("\n", begin) + 1;
  return { nodes, last: begin };
}

/** @param {Token[]} tokens @param {number} at */
function closing(tokens, at) {
  let depth = 0;
  for (let end = at; end < tokens.length; end += 1) {
    depth += tokens[end]?.nesting ?? 0;
    if (depth <= 0) return end + 1;
  }
  return tokens.length;
}

/**
 * @param {HTMLElement} root
 * @param {Token[]} tokens
 */
function build(root, tokens) {
  /** @type {HTMLElement[]} */
  const open = [root];
  for (const token of tokens) {
    const parent = /** @type {HTMLElement} */ (open.at(-1));
    if (token.nesting === -1) {
      if (open.length > 1) open.pop();
    } else if (token.type === "inline") {
      build(parent, token.children ?? []);
    } else if (token.nesting === 1) {
      const element = opened(token);
      parent.append(element);
      open.push(element);
    } else {
      parent.append(leaf(token));
    }
  }
}

/** @param {Token} token @returns {HTMLElement} */
function opened(token) {
  // In a tight list the paragraphs are not drawn.
  if (token.hidden) return h("span", { class: "agt-tight" });
  if (token.type === "heading_open") {
    const level = token.tag.slice(1);
    // No <h1>: this is a part of somebody's page, which has headings of its own.
    return h("div", {
      class: `agt-heading agt-heading-${level}`,
      role: "heading",
      "aria-level": level,
    });
  }
  if (token.type === "link_open") {
    const href = String(token.attrGet("href") ?? "");
    if (!LINK.test(href)) return h("span");
    return h("a", { href, target: "_blank", rel: "noopener noreferrer nofollow", title: href });
  }
  const tag = /** @type {"p"} */ (TAGS.has(token.tag) ? token.tag : "span");
  const element = h(tag, tag === "p" ? { dir: "auto" } : null);
  if (token.type === "ordered_list_open") {
    const start = Number(token.attrGet("start") ?? 1);
    if (start !== 1) element.setAttribute("start", String(start));
  }
  const align = /^text-align:(left|right|center)$/.exec(String(token.attrGet("style") ?? ""))?.[1];
  if (align) element.style.textAlign = align;
  if (token.tag === "table") element.setAttribute("class", "agt-mdtable");
  return element;
}

/** @param {Token} token @returns {Node | string} */
function leaf(token) {
  const { type, content } = token;
  if (type === "text") return content;
  if (type === "softbreak" || type === "hardbreak") return h("br");
  if (type === "hr") return h("hr");
  if (type === "code_inline") return h("code", null, content);
  if (type === "fence" || type === "code_block") return codeBlock(content, token.info);
  if (type === "image") return picture(token);
  return content; // html_block, html_inline: shown as the text that it is
}

/** @param {string} content @param {string} info */
function codeBlock(content, info) {
  const text = content.replace(/\n$/, "");
  const language = info.trim().split(/\s+/)[0] ?? "";
  return h(
    "div",
    { class: "agt-codeblock" },
    h(
      "div",
      { class: "agt-codehead" },
      h("span", { class: "agt-quiet" }, language.slice(0, 30)),
      copyButton(() => text, "code"),
    ),
    h("pre", { class: "agt-pre", tabindex: "0", dir: "ltr" }, h("code", null, text)),
  );
}

/** A picture is not fetched: that alone would tell its server who reads this. @param {Token} token */
function picture(token) {
  const source = String(token.attrGet("src") ?? "");
  const words = `[picture: ${token.content || "without a description"}]`;
  if (!LINK.test(source)) return h("span", { class: "agt-quiet" }, words);
  return h(
    "a",
    { href: source, target: "_blank", rel: "noopener noreferrer nofollow", title: source },
    words,
  );
}
