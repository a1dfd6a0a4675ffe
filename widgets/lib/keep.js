/**
 * Keeps a view's element when the host draws its output anew.
 *
 * JupyterLab does so for every `update_display_data`, which is how the saved HTML beside a widget
 * is brought up to date: it drops the old element and asks for a view of the same model. Drawn
 * afresh, that view would have lost its open rows, its focus and its scroll positions.
 */

/** @import { BaseData, RenderContext } from "./types" */

/**
 * @typedef {object} Drawn
 * @property {Element} root
 * @property {Element | null} focused what had the focus when it was last seen
 * @property {Map<Element, number>} scrolled
 * @property {() => void} dispose
 */

/** The views of this module's model; a module is loaded once a model. @type {Set<Drawn>} */
const views = new Set();

/**
 * Wrap `render` so that an element the host dropped is put back rather than drawn again.
 *
 * @param {(context: RenderContext) => () => void} render
 * @returns {(context: RenderContext) => () => void}
 */
export function keep(render) {
  return (context) => {
    const { id } = /** @type {BaseData} */ (context.model.get("data"));
    for (const view of views) {
      if (view.root.getAttribute("data-agt-id") === id && isDropped(view.root)) {
        putBack(view, context.el);
        return view.dispose;
      }
    }
    const cleanUp = render(context);
    const root = context.el.lastElementChild;
    if (!root) return cleanUp;
    root.setAttribute("data-agt-id", id);
    return remember(root, cleanUp).dispose;
  };
}

/**
 * @param {Element} root
 * @param {() => void} cleanUp
 */
function remember(root, cleanUp) {
  /** @type {Drawn} */
  const view = {
    root,
    focused: null,
    scrolled: new Map(),
    dispose() {
      if (views.delete(view)) cleanUp();
    },
  };
  root.addEventListener("focusin", ({ target }) => {
    view.focused = target instanceof Element ? target : null;
  });
  root.addEventListener("focusout", () => {
    // Browsers that tell of a dropped element's lost focus do so while it is being dropped.
    if (root.isConnected) view.focused = null;
  });
  root.addEventListener(
    "scroll",
    ({ target }) => {
      if (target instanceof Element && root.isConnected)
        view.scrolled.set(target, target.scrollTop);
    },
    { capture: true },
  );
  views.add(view);
  return view;
}

/**
 * Whether the host took the element out for good: a cell scrolled out of sight keeps its outputs.
 *
 * @param {Element} root
 */
function isDropped(root) {
  return !root.isConnected && !root.closest(".jp-OutputArea-output, .jp-OutputArea, .jp-Cell");
}

/**
 * @param {Drawn} view
 * @param {Element} el
 */
function putBack({ root, focused, scrolled }, el) {
  el.append(root);
  // The host attaches the new element to the page a moment later.
  requestAnimationFrame(() => {
    for (const [element, top] of scrolled) element.scrollTop = top;
    if (focused instanceof HTMLElement && document.activeElement === document.body) {
      focused.focus({ preventScroll: true });
    }
  });
}
