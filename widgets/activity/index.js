/** What goes on beside the calls, live: tasks, subscriptions and triggers with a Cancel button
 * each; the inbox. */

/** @import { Message, RenderContext } from "../lib/types" */
/** @import { Activity, InboxEvent, Work } from "./types" */
import { fill, h, keyed, setText } from "../lib/dom.js";
import { ago, clock, duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { eventRow, workRow } from "./rows.js";

const TICK_MS = 500;

/** @param {RenderContext} context */
function render(context) {
  const running = h("span", { class: "agt-status" });
  const toHandle = h("span", { class: "agt-quiet" });
  const held = h(
    "span",
    {
      class: "agt-tag agt-held",
      title: "A call is waited for: events wait until it has its result. Messages get through.",
    },
    "held while a call is waited for",
  );
  const runningList = h("div", { class: "agt-list" });
  const moreRunning = h("div", { class: "agt-more agt-quiet" });
  const idle = h("div", { class: "agt-empty" }, "Nothing runs in the background.");
  const eventList = h("div", { class: "agt-list" });
  const moreEvents = h("div", { class: "agt-more agt-quiet" });
  const noEvents = h("div", { class: "agt-empty" }, "Nothing has arrived yet.");
  const endedList = h("div", { class: "agt-list" });
  const moreEnded = h("div", { class: "agt-more agt-quiet" });
  const endedCount = h("span", { class: "agt-quiet agt-count" });
  const ended = h(
    "details",
    { class: "agt-fold" },
    h("summary", null, h("span", { class: "agt-label" }, "Ended"), endedCount),
    endedList,
    moreEnded,
  );

  /** @param {Work} work */
  const work = (work) =>
    workRow(work, {
      ask: () => view.send("open", { way: work.way, id: work.id }),
      cancel: () => view.send("cancel", { way: work.way, id: work.id }),
    });
  /** @param {InboxEvent} event */
  const arrived = (event) =>
    eventRow(event, () => view.send("open", { way: "event", id: event.id }));

  const tick = () => {
    const now = Date.now() / 1000;
    const live = view.live();
    for (const element of view.root.querySelectorAll(".agt-tick")) {
      const { from, mode } = /** @type {HTMLElement} */ (element).dataset;
      const at = Number(from);
      if (mode === "done") continue;
      // A saved page may be years old: there only the absolute time says anything.
      if (!live) setText(element, clock(at));
      else if (mode === "since") setText(element, since(Math.floor(Math.max(0, now - at))));
      else setText(element, ago(Math.max(0, now - at)));
    }
  };

  /**
   * @param {HTMLElement} list
   * @param {Work[]} rows
   * @param {HTMLElement} rest
   * @param {number} more
   */
  const drawWork = (list, rows, rest, more) => {
    keyed(
      list,
      rows,
      (row) => `${row.way} ${row.id}`,
      work,
      (element, row) => element.update(row, view.live()),
    );
    rest.hidden = more === 0;
    setText(rest, `and ${more.toLocaleString("en")} more`);
  };

  /** @param {Activity} data */
  const draw = (data) => {
    const count = (data.running ?? []).length + (data.more_running ?? 0);
    running.className = `agt-status agt-${count > 0 ? "running" : "waiting"}`;
    setText(running, count > 0 ? `${count.toLocaleString("en")} running` : "idle");
    setText(toHandle, `${plural(data.to_handle ?? 0, "event")} to handle`);
    held.hidden = !data.held;
    drawWork(runningList, data.running ?? [], moreRunning, data.more_running ?? 0);
    idle.hidden = count > 0;
    keyed(
      eventList,
      data.events ?? [],
      (event) => String(event.id),
      arrived,
      (element, event) => element.update(event),
    );
    noEvents.hidden = eventList.hasChildNodes();
    moreEvents.hidden = !data.more_events;
    setText(moreEvents, `and ${(data.more_events ?? 0).toLocaleString("en")} older`);
    drawWork(endedList, data.ended ?? [], moreEnded, data.more_ended ?? 0);
    const over = (data.ended ?? []).length + (data.more_ended ?? 0);
    ended.hidden = over === 0;
    setText(endedCount, over.toLocaleString("en"));
    tick();
  };

  /** @type {ReturnType<typeof connect<Activity>>} */
  const view = connect(context, "activity", {
    draw,
    messages: {
      detail(/** @type {Message} */ message) {
        const event = message.way === "event";
        const key = event ? String(message.id) : `${message.way} ${message.id}`;
        for (const list of event ? [eventList] : [runningList, endedList]) {
          for (const row of list.children) {
            if (/** @type {any} */ (row).agtKey === key) {
              /** @type {ReturnType<typeof workRow>} */ (row).detail(message.detail);
            }
          }
        }
      },
    },
    dispose: () => clearInterval(timer),
  });
  const timer = setInterval(tick, TICK_MS);
  fill(
    view.body,
    h(
      "section",
      { class: "agt-frame", "aria-label": "Activity" },
      h(
        "div",
        { class: "agt-head" },
        h("span", { class: "agt-title" }, "Activity"),
        h("span", { class: "agt-summary", role: "status" }, running),
        h("span", { class: "agt-grow" }),
      ),
      runningList,
      moreRunning,
      idle,
      ended,
      h(
        "div",
        { class: "agt-subhead" },
        h("span", { class: "agt-label" }, "Inbox"),
        toHandle,
        held,
      ),
      h("div", { class: "agt-scroll" }, eventList, moreEvents),
      noEvents,
    ),
  );
  view.start();
  return () => view.dispose();
}

export default { render };

/** How long something runs, without the parts of a second. @param {number} seconds */
function since(seconds) {
  return seconds < 60 ? `${seconds} s` : duration(seconds);
}
