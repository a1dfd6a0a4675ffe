/** Views inside a view: the cards that ask a person something, in the output of what asks. */

/** @import { Model } from "./types" */
import { fill, h, setText } from "./dom.js";

/** @typedef {{ ids: string[], more: number }} Cards */

const TRIES = 40;
const PAUSE = 150;

/**
 * Draw another model's view into `el`. The model may come to be a moment after its id is known.
 *
 * @param {Model} model any model of the same kernel
 * @param {string} id
 * @param {HTMLElement} el
 * @returns {() => void} takes it away again
 */
export function mount(model, id, el) {
  let gone = false;
  /** @type {{ el: HTMLElement, remove: () => void } | undefined} */
  let view;
  const draw = async () => {
    const manager = model.widget_manager;
    if (!manager?.create_view) throw new Error("this front end draws no view inside a view");
    for (let tries = 0; !gone; tries += 1) {
      try {
        const child = await manager.get_model(id);
        if (gone) return;
        view = await manager.create_view(child, {});
        if (gone) view.remove();
        else fill(el, view.el);
        return;
      } catch (error) {
        if (tries >= TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
      }
    }
  };
  draw().catch((error) => {
    console.error(error);
    setText(el, `This card could not be drawn: ${error}`);
  });
  return () => {
    gone = true;
    view?.remove();
    el.remove();
  };
}

/**
 * Where a view shows its cards.
 *
 * @param {Model} model
 */
export function cardSlot(model) {
  const list = h("div", { class: "agt-cardlist" });
  const more = h("div", { class: "agt-cardsmore", hidden: true });
  const el = h("div", { class: "agt-cards", hidden: true }, list, more);
  /** @type {Map<string, { place: HTMLElement, remove: () => void }>} */
  const shown = new Map();
  return {
    el,
    /** @param {Cards | undefined} cards */
    update(cards) {
      const ids = cards?.ids ?? [];
      for (const [id, one] of shown) {
        if (ids.includes(id)) continue;
        one.remove();
        shown.delete(id);
      }
      for (const id of ids) {
        if (shown.has(id)) continue;
        const place = h("div", { class: "agt-cardplace" });
        // Cards come at the end; one that waited for its turn comes after those before it.
        list.append(place);
        shown.set(id, { place, remove: mount(model, id, place) });
      }
      const left = cards?.more ?? 0;
      setText(more, left === 1 ? "1 more asks after these" : `${left} more ask after these`);
      more.hidden = left === 0;
      el.hidden = ids.length === 0;
    },
    dispose() {
      for (const one of shown.values()) one.remove();
      shown.clear();
      el.remove();
    },
  };
}
