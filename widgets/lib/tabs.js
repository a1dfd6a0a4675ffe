import { fill, h, uniqueId } from "./dom.js";

/**
 * Tabs whose panels are drawn when they are first shown; arrow keys, Home and End move.
 *
 * @param {string} label for screen readers
 * @param {{ id: string, title: string, body: () => Node }[]} items
 * @param {{ active?: string, changed?: (id: string) => void }} [options]
 * @returns {{ el: HTMLElement, bar: HTMLElement, select: (id: string) => void }}
 */
export function tabs(label, items, options = {}) {
  const prefix = uniqueId();
  const bar = h("div", { class: "agt-tabs", role: "tablist", "aria-label": label });
  const panel = h("div", {
    class: "agt-panel",
    role: "tabpanel",
    id: `${prefix}-panel`,
    tabindex: "0",
  });
  /** @type {Map<string, Node>} */
  const drawn = new Map();

  /** @param {string} id */
  const select = (id) => {
    const item = items.find((one) => one.id === id);
    if (!item) return;
    const body = drawn.get(id) ?? item.body();
    drawn.set(id, body);
    fill(panel, body);
    panel.setAttribute("aria-labelledby", `${prefix}-${id}`);
    for (const tab of bar.children) {
      const on = tab.id === `${prefix}-${id}`;
      tab.setAttribute("aria-selected", String(on));
      tab.setAttribute("tabindex", on ? "0" : "-1");
    }
  };

  /** @param {number} index */
  const go = (index) => {
    const item = items[(index + items.length) % items.length];
    if (!item) return;
    select(item.id);
    options.changed?.(item.id);
    /** @type {HTMLElement | null} */ (bar.querySelector('[aria-selected="true"]'))?.focus();
  };

  for (const [index, item] of items.entries()) {
    bar.append(
      h(
        "button",
        {
          class: "agt-tab",
          type: "button",
          role: "tab",
          id: `${prefix}-${item.id}`,
          "aria-controls": `${prefix}-panel`,
          on: {
            click: () => go(index),
            keydown: (event) => {
              const target = { ArrowRight: index + 1, ArrowLeft: index - 1, Home: 0, End: -1 }[
                event.key
              ];
              if (target === undefined) return;
              event.preventDefault();
              event.stopPropagation();
              go(target);
            },
          },
        },
        item.title,
      ),
    );
  }
  select(options.active ?? items[0]?.id ?? "");
  return { el: h("div", { class: "agt-tabset" }, bar, panel), bar, select };
}
