/** Text that was written for a terminal. */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences begin with one
const ESCAPES = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
const REWRITTEN = /^[^\n]*\r(?!\n|$)/gm;

/**
 * What a terminal would show: without colours, and of a line that was written again and again
 * only its last form.
 *
 * @param {string} text
 */
export function plain(text) {
  return text.replace(ESCAPES, "").replaceAll("\r\n", "\n").replace(REWRITTEN, "");
}
