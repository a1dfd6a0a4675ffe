/** Saved states: keep one under a name, go back to it, compare any two. */

/** @import { Changes, Snapshot } from "./types" */
import { confirmButton } from "../lib/confirm.js";
import { fill, h, keyed, setText } from "../lib/dom.js";
import { plural } from "../lib/format.js";
import { changeList } from "./changes.js";
import { time } from "./words.js";

/** The present, among the choices: those of snapshots are their names in quotes. */
const NOW = "now";
const AGAIN_MS = 1000;

/**
 * @param {{
 *   save: (name: string) => void,
 *   load: (name: string) => void,
 *   forget: (name: string) => void,
 *   compare: (before: string | null, after: string | null) => void,
 * }} options a name of `null` is the state now
 */
export function snapshotList({ save, load, forget, compare }) {
  /** @type {Snapshot[]} */
  let snapshots = [];
  let compared = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  const name = h("input", {
    class: "agt-input agt-small",
    placeholder: "name",
    "aria-label": "Name of the snapshot",
    on: {
      keydown: (event) => {
        if (event.key === "Enter" && !saveButton.disabled) save(name.value);
      },
    },
  });
  const saveButton = h(
    "button",
    { class: "agt-button agt-small", type: "button", on: { click: () => save(name.value) } },
    "Save snapshot",
  );
  const fault = h("div", { class: "agt-fault", role: "alert", hidden: true });
  const rows = h("tbody");
  const before = chooser("Compare", () => changed());
  const after = chooser("with", () => changed());
  const result = h("div", { class: "agt-compared", role: "group", "aria-label": "Differences" });
  const comparing = h(
    "div",
    { class: "agt-comparing" },
    h(
      "div",
      { class: "agt-choosers" },
      h("span", null, "From "),
      before,
      h("span", null, " to "),
      after,
    ),
    result,
  );
  const count = h("span", { class: "agt-latest agt-quiet" });
  const el = h(
    "details",
    { class: "agt-fold" },
    h("summary", null, h("span", { class: "agt-label" }, "Snapshots"), count),
    h(
      "div",
      { class: "agt-foldbody" },
      h("div", { class: "agt-actions" }, name, saveButton),
      fault,
      h("table", { class: "agt-table" }, rows),
      comparing,
    ),
  );

  const changed = () => {
    compared = true;
    compare(nameOf(before.value), nameOf(after.value));
  };

  /** @param {Snapshot} one */
  const row = (one) => {
    const compareButton = h(
      "button",
      {
        class: "agt-link",
        type: "button",
        "aria-label": `Compare ${one.name} with now`,
        on: {
          click: () => {
            before.value = JSON.stringify(one.name);
            after.value = NOW;
            changed();
          },
        },
      },
      "Compare",
    );
    const loadButton = confirmButton(
      "Load",
      "Replace the state?",
      () => load(one.name),
      "agt-link",
    );
    loadButton.setAttribute("aria-label", `Load ${one.name}`);
    const deleteButton = confirmButton("Delete", "Sure?", () => forget(one.name), "agt-link");
    deleteButton.setAttribute("aria-label", `Delete ${one.name}`);
    return h(
      "tr",
      null,
      h("td", { class: "agt-strong" }, one.name),
      h("td", { class: "agt-quiet agt-size" }, plural(one.keys, "key")),
      h("td", { class: "agt-quiet agt-when" }, time(one.at)),
      h(
        "td",
        { class: "agt-right" },
        h("div", { class: "agt-actions" }, compareButton, loadButton, deleteButton),
      ),
    );
  };

  return {
    el,
    /** @param {Snapshot[]} all @param {boolean} live */
    update(all, live) {
      snapshots = all;
      setText(count, all.length ? plural(all.length, "snapshot") : "none yet");
      keyed(rows, [...all].reverse(), (one) => `${one.name} ${one.at}`, row);
      for (const select of [before, after]) refill(select, snapshots);
      comparing.hidden = all.length === 0;
      name.disabled = saveButton.disabled = before.disabled = after.disabled = !live;
      for (const button of rows.querySelectorAll("button")) button.disabled = !live;
    },
    /** @param {string | null} text what was wrong with the name, or nothing */
    saved(text) {
      fault.hidden = text === null;
      setText(fault, text ?? "");
      if (text === null) name.value = "";
      name.focus();
    },
    /** Further writes came: a comparison with the present is out of date. */
    grown() {
      const withNow = before.value === NOW || after.value === NOW;
      if (!compared || !el.open || !withNow || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        changed();
      }, AGAIN_MS);
    },
    dispose: () => clearTimeout(timer),
    /** @param {Changes & { before: string | null, after: string | null }} answer */
    compared(answer) {
      if (answer.before !== nameOf(before.value) || answer.after !== nameOf(after.value)) return;
      fill(result, changeList(answer, "No difference."));
    },
  };
}

/**
 * @param {string} label
 * @param {() => void} changed
 */
function chooser(label, changed) {
  return h("select", {
    class: "agt-input agt-small",
    "aria-label": label,
    on: { change: changed },
  });
}

/** @param {string} value */
function nameOf(value) {
  return value === NOW || value === "" ? null : JSON.parse(value);
}

/**
 * @param {HTMLSelectElement} select
 * @param {Snapshot[]} snapshots
 */
function refill(select, snapshots) {
  const names = [...new Set(snapshots.map((one) => one.name))];
  const sign = JSON.stringify(names);
  if (select.dataset.sign === sign) return;
  select.dataset.sign = sign;
  const kept = select.value;
  fill(
    select,
    h("option", { value: NOW }, "now"),
    names.map((name) => h("option", { value: JSON.stringify(name) }, name)),
  );
  select.value = kept;
  if (select.selectedIndex < 0) select.value = NOW;
}
