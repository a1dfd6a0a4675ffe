/** A search over keys, values and history. */

/** @import { By, Found } from "./types" */
import { fill, h } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { stepLink, time, what, who } from "./words.js";

const PAUSE_MS = 150;
const AGAIN_MS = 1000;
// A search that goes on by itself takes a small part of the kernel's time.
const REST_TIMES = 80;

/**
 * @param {{
 *   find: (text: string) => void,
 *   changed: () => void,
 *   go: (steps: Record<By, number>) => void,
 * }} options `find`: ask; `changed`: what is shown has changed; `go`: show the step of a write
 */
export function searchField({ find, changed, go }) {
  /** @type {Found | null} */
  let found = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let isAsked = false;
  let askedAt = 0;

  const ask = () => {
    clearTimeout(timer);
    timer = undefined;
    const text = input.value.trim();
    if (text) {
      isAsked = true;
      askedAt = performance.now();
      find(text);
    } else if (found) {
      found = null;
      draw();
      changed();
    }
  };
  const input = h("input", {
    class: "agt-input agt-small agt-search",
    type: "search",
    placeholder: "Search",
    "aria-label": "Search keys, values and history",
    on: {
      input: () => {
        clearTimeout(timer);
        timer = setTimeout(ask, PAUSE_MS);
      },
      keydown: (event) => {
        if (event.key === "Enter") ask();
        if (event.key !== "Escape" || !input.value) return;
        input.value = "";
        ask();
        event.preventDefault();
      },
    },
  });
  const summary = h("div", { class: "agt-quiet agt-foundsum", role: "status" });
  const rows = h("tbody");
  const writes = h(
    "div",
    { class: "agt-foundwrites" },
    h("div", { class: "agt-label" }, "In the history"),
    h("div", { class: "agt-scroll", tabindex: "0" }, h("table", { class: "agt-table" }, rows)),
  );
  const el = h("div", { class: "agt-found", hidden: true }, summary, writes);

  const draw = () => {
    el.hidden = found === null;
    if (!found) return;
    const keys = found.keys.length + found.more_keys;
    const count = found.writes.length + found.more_writes;
    const cut = found.is_cut ? " · the state is large: only part of it was searched" : "";
    fill(summary, `${plural(keys, "key")} and ${plural(count, "write")} found${cut}`);
    writes.hidden = count === 0;
    fill(
      rows,
      found.writes.map((write) =>
        h(
          "tr",
          null,
          h("td", { class: "agt-seq" }, stepLink(write, go)),
          h("td", { class: "agt-mono agt-cut" }, write.key || "all keys"),
          h("td", { class: "agt-mono agt-cut" }, what(write)),
          h("td", { class: "agt-who" }, who(write)),
          h("td", { class: "agt-quiet agt-when" }, time(write.at)),
        ),
      ),
      found.more_writes > 0 &&
        h(
          "tr",
          null,
          h("td", { class: "agt-quiet", colspan: 5 }, `and ${plural(found.more_writes, "more")}`),
        ),
    );
  };

  return {
    input,
    el,
    get found() {
      return found;
    },
    /** The state that is shown is another one. */
    moved: () => ask(),
    /** Further writes came: what was found may be out of date. @param {number} total */
    grown(total) {
      if (!found || found.upto === total || isAsked || timer !== undefined) return;
      const rest = Math.max(AGAIN_MS, found.took * 1000 * REST_TIMES);
      timer = setTimeout(ask, Math.max(0, askedAt + rest - performance.now()));
    },
    /** @param {Found} answer */
    take(answer) {
      isAsked = false;
      if (answer.text !== input.value.trim()) return;
      found = answer;
      draw();
      changed();
    },
    /** @param {boolean} live */
    update(live) {
      input.disabled = !live;
    },
    dispose: () => clearTimeout(timer),
  };
}
