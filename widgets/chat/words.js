/** Tokens in words. */

/** @import { Usage } from "./types" */

/** "312 tokens", "~312 tokens" where nobody counted; nothing where there are none. @param {Usage | undefined} usage */
export function tokens(usage) {
  if (!usage || usage[0] + usage[1] === 0) return "";
  const count = (usage[0] + usage[1]).toLocaleString("en");
  return `${usage[2] ? "~" : ""}${count} tokens`;
}

/** @param {Usage | undefined} usage */
export function usageWords(usage) {
  if (!usage) return "";
  const [sent, written, estimate] = usage;
  const words = `${sent.toLocaleString("en")} tokens sent, ${written.toLocaleString("en")} written`;
  return estimate ? `${words}; estimated, four characters a token` : words;
}
