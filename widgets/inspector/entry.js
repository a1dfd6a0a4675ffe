/** One key: its value as a tree or in an editor, and who wrote it. */

/** @import { Editor } from "./editor.js" */
/** @import { Entry } from "./types" */
import { confirmButton } from "../lib/confirm.js";
import { fill, h } from "../lib/dom.js";
import { jsonTree } from "../lib/tree.js";
import { about, time, who } from "./words.js";

const PLACES_NAMED = 3;

/**
 * @typedef {object} Look what holds for the whole list
 * @property {boolean} past whether it is a past state, which cannot be edited
 * @property {boolean} live
 * @property {Set<string>} changed keys to mark
 * @property {number} seen writes after this one are new before one's eyes
 */

/**
 * @param {string} key
 * @param {{
 *   editing: () => Editor | undefined,
 *   edit: () => void,
 *   remove: () => void,
 *   memory: Map<string, boolean>,
 * }} options
 * @returns {HTMLElement & { update: (entry: Entry, look: Look) => void }}
 */
export function entryRow(key, { editing, edit, remove, memory }) {
  const value = h("div", { class: "agt-value" });
  const by = h("span", { class: "agt-by" });
  const editButton = h(
    "button",
    { class: "agt-link", type: "button", "aria-label": `Edit ${key}`, on: { click: edit } },
    "Edit",
  );
  const removeButton = confirmButton("Delete", "Sure?", remove, "agt-link");
  removeButton.setAttribute("aria-label", `Delete ${key}`);
  const actions = h("div", { class: "agt-actions" }, editButton, removeButton);
  const element = h(
    "div",
    { class: "agt-entry" },
    h("div", { class: "agt-mono agt-name" }, key),
    value,
    h("div", { class: "agt-meta" }, by, actions),
  );
  let sign = "";
  let seq = -1;
  /** @type {Editor | undefined} */
  let shown;

  /** @param {Entry} entry */
  const drawValue = (entry) => {
    const places = (entry.places ?? []).map((place) => below(place));
    const inside = places.filter((place) => place !== "");
    fill(
      value,
      jsonTree(entry.text, {
        open: 1,
        memory: opened(memory, inside),
        marks: new Map(places.map((place) => [place, ""])),
      }),
      entry.note && h("div", { class: "agt-quiet agt-note" }, entry.note),
      inside.length > 0 && entry.note && h("div", { class: "agt-quiet agt-note" }, named(inside)),
    );
  };

  /**
   * @param {Entry} entry
   * @param {Look} look
   */
  const update = (entry, look) => {
    const editor = look.past ? undefined : editing();
    const now = entry.write?.seq ?? 0;
    const next = JSON.stringify([entry.text, entry.note, entry.places]);
    if (editor !== shown || next !== sign || value.childNodes.length === 0) {
      if (editor && editor === shown) editor.changedMeanwhile();
      else if (editor) fill(value, editor.el);
      else drawValue(entry);
      shown = editor;
      sign = next;
    }
    if (now !== seq) {
      fill(by, entry.write && [h("span", null, who(entry.write)), " ", time(entry.write.at)]);
      by.title = entry.write ? about(entry.write) : "";
      // Not on the first draw: only what changes before one's eyes.
      if (!look.past && look.seen >= 0 && now > look.seen) flash(element);
      seq = now;
    }
    element.classList.toggle("agt-touched", look.changed.has(key));
    actions.hidden = look.past;
    editButton.disabled = !look.live || editor !== undefined;
    removeButton.disabled = !look.live;
  };
  return Object.assign(element, { update });
}

/**
 * The place within the value of a place within the whole state.
 *
 * @param {string} place
 */
function below(place) {
  const end = place.indexOf("/", 1);
  return end < 0 ? "" : place.slice(end);
}

/**
 * What was opened by hand, and every branch on the way to these places.
 *
 * @param {Map<string, boolean>} memory
 * @param {string[]} places
 */
function opened(memory, places) {
  if (places.length === 0) return memory;
  const open = new Map(memory);
  for (const place of places) {
    for (let end = place.indexOf("/", 1); end > 0; end = place.indexOf("/", end + 1)) {
      open.set(place.slice(0, end), true);
    }
    open.set("", true);
  }
  return open;
}

/** @param {string[]} places */
function named(places) {
  const more = places.length > PLACES_NAMED ? ", …" : "";
  return `found at ${places.slice(0, PLACES_NAMED).join(", ")}${more}`;
}

/** @param {HTMLElement} element */
function flash(element) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  for (const animation of element.getAnimations()) animation.cancel();
  element.animate(
    [{ backgroundColor: "color-mix(in srgb, var(--agt-accent) 18%, transparent)" }, {}],
    { duration: 1500, easing: "ease-out" },
  );
}
