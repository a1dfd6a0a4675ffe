import { h } from "./dom.js";

// The same characters as in agtools_nb/views/unseen.py. Written by their codes, since linters
// rightly distrust them in a pattern.
const RANGES = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0xe0000, 0xe0fff],
];
const UNSEEN = new RegExp(
  `[${RANGES.map((range) => range.map((code) => `\\u{${code?.toString(16)}}`).join("-")).join("")}]`,
  "gu",
);

/**
 * Text whose unseen characters are written out: where a person decides, a character that turns
 * the line round, or is not drawn at all, must not hide what will be done.
 *
 * @param {string} text
 * @returns {(string | HTMLElement)[]}
 */
export function seen(text) {
  const parts = [];
  let done = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > done) parts.push(text.slice(done, match.index));
    parts.push(h("span", { class: "agt-unseen" }, codePoint(match[0])));
    done = match.index + match[0].length;
  }
  if (done < text.length) parts.push(text.slice(done));
  return parts;
}

/** @param {string} character "U+202E" */
export function codePoint(character) {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
