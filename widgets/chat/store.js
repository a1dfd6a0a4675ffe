/** The conversation as the browser knows it: `data`, brought up to date by messages. */

/** @import { Message } from "../lib/types" */
/** @import { Call, Chat, Entry, Head } from "./types" */

/** @type {Head} */
const NOTHING = {
  title: "",
  model: "",
  tools: [],
  tool_count: 0,
  busy: null,
  stopping: false,
  usage: [0, 0, false],
  secs: 0,
  closed: false,
  versions: {},
  desk: null,
};

export class Store {
  root = 0;
  earlier = 0;
  rev = 0;
  /** When the head was received, by the browser's clock. */
  headAt = 0;
  /** @type {Head} */
  head = NOTHING;
  /** @type {Map<number, Entry[]>} */
  lists = new Map();

  /** @param {Chat} data */
  replace(data) {
    if ((data.rev ?? 0) < this.rev) return;
    this.rev = data.rev ?? 0;
    const before = this.root === data.root ? this.entries() : [];
    const next = data.lists?.[String(data.root)] ?? [];
    const at = before.findIndex((entry) => entry.n === next[0]?.n);
    this.root = data.root ?? 0;
    if (at <= 0) this.earlier = data.earlier ?? 0;
    this.#take(data.lists ?? {});
    if (at > 0) this.lists.set(this.root, [...before.slice(0, at), ...this.entries()]);
    this.#headed(data);
  }

  /**
   * @param {Message} message of type "patch"
   * @returns {boolean} whether it follows what is known; else everything has to be asked for
   */
  patch(message) {
    if (message.rev <= this.rev) return true;
    if (message.rev !== this.rev + 1) return false;
    this.rev = message.rev;
    for (const change of message.changes) {
      const list = [...(this.lists.get(change.list) ?? [])];
      for (const entry of change.entries) merge(list, entry);
      for (const { n, calls } of change.calls) {
        const at = place(list, n);
        const entry = list[at];
        if (entry) list[at] = { ...entry, calls: patched(entry.calls ?? [], calls) };
      }
      this.lists.set(change.list, list);
    }
    this.#headed(/** @type {any} */ (message));
    return true;
  }

  /** @param {Message} message of type "earlier" */
  prepend(message) {
    if (message.root !== this.root) return;
    const now = this.entries();
    this.#take(message.lists);
    const have = new Set(now.map((entry) => entry.n));
    const older = this.entries().filter((entry) => !have.has(entry.n));
    this.lists.set(this.root, [...older, ...now]);
    this.earlier = message.earlier;
  }

  /**
   * Forget the oldest; Python has them, for who scrolls up to them.
   *
   * @param {number} kept
   */
  trim(kept) {
    const entries = this.entries();
    this.earlier += entries.length - kept;
    this.lists.set(this.root, entries.slice(-kept));
  }

  /**
   * @param {number} list
   * @param {number} n
   * @param {(entry: Entry) => Entry} change
   */
  change(list, n, change) {
    const entries = [...(this.lists.get(list) ?? [])];
    const at = place(entries, n);
    const entry = entries[at];
    if (!entry) return;
    entries[at] = change(entry);
    this.lists.set(list, entries);
  }

  entries() {
    return this.lists.get(this.root) ?? [];
  }

  /** Seconds since the answer began that is being given; null if none is. */
  busy() {
    return this.head.busy === null
      ? null
      : this.head.busy + (performance.now() - this.headAt) / 1000;
  }

  /** @param {Record<string, Entry[]>} lists */
  #take(lists) {
    for (const [id, entries] of Object.entries(lists)) {
      const known = new Map((this.lists.get(Number(id)) ?? []).map((entry) => [entry.n, entry]));
      this.lists.set(
        Number(id),
        entries.map((entry) => withKnown(entry, known.get(entry.n))),
      );
    }
  }

  /** @param {Head} head */
  #headed(head) {
    this.head = /** @type {Head} */ (
      Object.fromEntries(
        Object.entries(NOTHING).map(([name, value]) => [
          name,
          /** @type {any} */ (head)[name] ?? value,
        ]),
      )
    );
    this.headAt = performance.now();
  }
}

/** New entries come at the end, and changed ones are near it. @param {Entry[]} list @param {number} n */
function place(list, n) {
  return list.findLastIndex((entry) => entry.n === n);
}

/** @param {Entry[]} list @param {Entry & { more?: string }} patch */
function merge(list, { more, ...patch }) {
  const at = place(list, patch.n);
  const old = list[at];
  if (!old) {
    // One that is older than all there is was not loaded, and need not be.
    if (list.length === 0 || patch.n > /** @type {Entry} */ (list[0]).n) {
      list.push(withKnown({ ...patch, text: patch.text ?? more ?? "" }, undefined));
    }
    return;
  }
  const text = more === undefined ? (patch.text ?? old.text) : old.text + more;
  list[at] = withKnown({ ...old, ...patch, text }, old);
}

/** Details that were asked for stay, as long as their call has not changed. @param {Entry} entry @param {Entry | undefined} old @returns {Entry} */
function withKnown(entry, old) {
  const calls = patched(old?.calls ?? [], entry.calls ?? []);
  return old?.raw ? { ...entry, calls, raw: old.raw } : { ...entry, calls };
}

/** @param {Call[]} old @param {Call[]} fresh */
function patched(old, fresh) {
  const calls = [...old];
  for (const call of fresh) {
    const known = old[call.i];
    const detail = known?.status === call.status ? known.detail : undefined;
    const now = { ...call, at: performance.now() };
    calls[call.i] = detail ? { ...now, detail } : now;
  }
  return calls;
}
