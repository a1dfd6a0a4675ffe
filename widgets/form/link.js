/** Edits on their way to Python, and which of them it has seen. */

/** @import { Path } from "./types" */

const PAUSE = 90;

/**
 * Typed text is sent when the typing pauses; any other edit sends it first, so that Python
 * sees edits in the order in which they were made.
 *
 * @param {(type: string, fields: Record<string, unknown>) => void} post
 */
export function link(post) {
  const client = Math.random().toString(36).slice(2, 12);
  let seq = 0;
  let acknowledged = 0;
  /** @type {Set<() => void>} */
  const waiting = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const flush = () => {
    clearTimeout(timer);
    const sends = [...waiting];
    waiting.clear();
    for (const send of sends) send();
  };
  /** @param {string} type @param {Record<string, unknown>} fields */
  const send = (type, fields = {}) => {
    flush();
    seq += 1;
    post(type, { ...fields, client, seq });
    return seq;
  };
  return {
    client,
    flush,
    send,
    /** @param {string} op @param {Path} path @param {Record<string, unknown>} [more] */
    edit: (op, path, more = {}) => send("edit", { ...more, op, path: path() }),
    /** @param {() => void} typed */
    later: (typed) => {
      waiting.add(typed);
      clearTimeout(timer);
      timer = setTimeout(flush, PAUSE);
    },
    /** @param {Record<string, number>} all */
    note: (all) => {
      acknowledged = Math.max(acknowledged, all[client] ?? 0);
    },
    /** @param {number} number */
    seen: (number) => number <= acknowledged,
    behind: () => seq > acknowledged,
  };
}
