/** Building DOM without HTML: text only ever becomes a text node. */

/** @import { Attrs, Child } from "./types" */

// Set as properties, since their attributes mean only the initial state.
const PROPERTIES = new Set(["value", "checked", "disabled", "open", "hidden", "indeterminate"]);

/**
 * Make an element. `style` sets CSS properties, `on` adds listeners; an attribute that is
 * `true` is set empty, one that is null, undefined or false is left out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attrs | null} [attrs]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attrs, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (name === "style") {
      for (const [property, text] of Object.entries(value ?? {})) {
        element.style.setProperty(property, text);
      }
    } else if (name === "on") {
      for (const [event, listener] of Object.entries(value ?? {})) {
        element.addEventListener(event, listener);
      }
    } else if (PROPERTIES.has(name)) {
      if (value != null) /** @type {any} */ (element)[name] = value;
    } else if (value != null && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  append(element, children);
  return element;
}

/**
 * @param {Element | DocumentFragment} parent
 * @param {Child} child
 */
export function append(parent, child) {
  if (Array.isArray(child)) {
    for (const one of child) append(parent, one);
  } else if (child != null && child !== false) {
    parent.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Replace everything in `parent`.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren();
  append(parent, children);
}

/**
 * Set an element's text, touching the DOM only if it differs (so that a selection, a focus or
 * a screen reader is not disturbed).
 *
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Bring the children of `parent` in step with `items`, keeping the element of each key.
 *
 * @template T
 * @template {Element} E
 * @param {Element} parent holds nothing but these children
 * @param {readonly T[]} items
 * @param {(item: T, index: number) => string} key unique
 * @param {(item: T) => E} create
 * @param {(element: E, item: T) => void} [update] also called after `create`
 */
export function keyed(parent, items, key, create, update = () => {}) {
  /** @type {Map<string, E>} */
  const old = new Map();
  for (const child of parent.children) {
    old.set(/** @type {any} */ (child).agtKey, /** @type {any} */ (child));
  }
  let place = parent.firstElementChild;
  for (const [index, item] of items.entries()) {
    const name = key(item, index);
    let element = old.get(name);
    if (element) {
      old.delete(name);
    } else {
      element = create(item);
      /** @type {any} */ (element).agtKey = name;
    }
    update(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  for (const element of old.values()) element.remove();
}

let ids = 0;

/** An id that no other element of the page has, for `aria-controls` and labels. */
export function uniqueId() {
  ids += 1;
  return `agt-${ids}-${Math.random().toString(36).slice(2, 8)}`;
}
