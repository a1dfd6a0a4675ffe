/** The batch as the browser knows it: `data`, brought up to date by "rows" and "detail". */

/** @import { BaseData, Message } from "../lib/types" */
/** @import { Detail } from "../lib/detail.js" */
/** @import { Bar, Piece } from "../lib/progress.js" */

/**
 * @typedef {object} Row
 * @property {number} i
 * @property {string} name
 * @property {string} args
 * @property {"waiting" | "asking" | "running" | "ok" | "error" | "invalid" | "cancelled" | "denied"} status
 * @property {number} changes
 * @property {number} [start] seconds after the batch began
 * @property {number} [duration] seconds
 * @property {string} [outcome]
 * @property {Detail} [detail]
 * @property {Bar[]} [bars] while it runs
 * @property {string} [line] the last line that it wrote
 * @property {Output} [output] what it has written, if the row is open
 */

/**
 * @typedef {object} Output
 * @property {number} from characters before the first piece
 * @property {number} to characters up to the end
 * @property {Piece[]} pieces
 */

/**
 * @typedef {object} Head
 * @property {number} elapsed seconds, when it was sent
 * @property {boolean} finished
 * @property {boolean} stopping
 */

/** @typedef {BaseData & Head & { rows: Row[], can_stop: boolean }} Batch */

export class Store {
  /** @type {Row[]} */
  rows = [];
  /** @type {Head} */
  head = { elapsed: 0, finished: true, stopping: false };
  canStop = false;
  #receivedAt = 0;

  /** @param {Batch} data */
  replace(data) {
    const before = this.rows;
    this.rows = (data.rows ?? []).map((row) => {
      const old = before[row.i];
      const known = row.detail ?? (old?.status === row.status ? old.detail : undefined);
      return known ? { ...row, detail: known } : row;
    });
    this.canStop = data.can_stop ?? false;
    this.#headed(data);
  }

  /** @param {Message} message of type "rows" */
  patch(message) {
    for (const row of message.rows) {
      const old = this.rows[row.i];
      this.rows[row.i] =
        old?.detail && old.status === row.status ? { ...row, detail: old.detail } : row;
    }
    this.#headed(/** @type {any} */ (message));
  }

  /** @param {Head} head */
  #headed(head) {
    this.head = {
      elapsed: head.elapsed ?? 0,
      finished: head.finished ?? true,
      stopping: head.stopping ?? false,
    };
    this.#receivedAt = performance.now();
  }

  /** Seconds since the batch began: Python's clock when it last wrote, the browser's since. */
  now() {
    if (this.head.finished) return this.head.elapsed;
    return this.head.elapsed + (performance.now() - this.#receivedAt) / 1000;
  }

  counts() {
    const counts = {
      waiting: 0,
      asking: 0,
      running: 0,
      ok: 0,
      failed: 0,
      denied: 0,
      cancelled: 0,
    };
    for (const row of this.rows) {
      if (row.status === "error" || row.status === "invalid") counts.failed += 1;
      else counts[row.status] += 1;
    }
    return counts;
  }
}
