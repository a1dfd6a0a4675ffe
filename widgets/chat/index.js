/** A conversation as it goes on. */

/** @import { RenderContext } from "../lib/types" */
/** @import { Chat } from "./types" */
import { mount } from "../lib/cards.js";
import { fill, h, setText } from "../lib/dom.js";
import { duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { writing } from "../lib/writing.js";
import { transcript } from "./entries.js";
import { Store } from "./store.js";
import { tokens, usageWords } from "./words.js";

const TICK_MS = 100;
const NEAR_END = 60;
const SPOKEN = 400;
// Who is at the end sees none of what is far above it, but a browser lays it out all the same.
const MOST_DRAWN = 200;
const KEPT_DRAWN = 100;

/** @param {RenderContext} context */
function render(context) {
  const store = new Store();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;

  // -- the parts, top to bottom ----------------------------------------------------------------
  const title = h("span", { class: "agt-title" });
  const state = h("span", { class: "agt-status" });
  const count = h("span", { class: "agt-quiet agt-count" });
  const earlier = h("button", { class: "agt-link agt-earlier", type: "button", hidden: true });
  const welcome = h("div", { class: "agt-welcome", hidden: true });
  const pending = h(
    "div",
    { class: "agt-pending", hidden: true },
    h("span", { class: "agt-dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
    h("span", { class: "agt-quiet agt-waited" }),
  );
  const waited = /** @type {HTMLElement} */ (pending.lastElementChild);
  const place = {
    live: () => view.live(),
    head: () => ({ ...store.head, root: store.root }),
    send: (/** @type {string} */ type, /** @type {Record<string, unknown>} */ fields = {}) =>
      view.send(type, fields),
    mount: (/** @type {string} */ id, /** @type {HTMLElement} */ el) =>
      mount(context.model, id, el),
    list: (/** @type {number} */ id) => store.lists.get(id) ?? [],
  };
  let root = 0;
  let list = transcript(place, root);
  const listPlace = h("div", null, list.el);
  const scroller = h(
    "div",
    {
      class: "agt-scroller",
      role: "log",
      "aria-label": "Conversation",
      "aria-live": "off",
      tabindex: "0",
    },
    earlier,
    welcome,
    listPlace,
    pending,
  );
  const newest = h(
    "button",
    { class: "agt-button agt-small agt-newest", type: "button", hidden: true },
    "↓ Newest",
  );
  const desk = h("div", { class: "agt-desk", hidden: true });
  // What is read out: a whole answer once, not each of its words as it comes.
  const spoken = h("span", { class: "agt-sr", role: "status" });

  const sendNow = () => {
    if (!area.value.trim() || send.hidden || send.disabled) return;
    view.send("say", { text: area.value });
    area.value = "";
    area.grow();
    stick = true;
    drawComposer();
  };
  const stopNow = () => {
    if (store.head.busy === null || store.head.stopping || !view.live()) return;
    stop.disabled = true;
    view.send("stop");
  };
  const area = writing("Message", sendNow, stopNow);
  area.addEventListener("input", () => drawComposer());
  const send = h(
    "button",
    {
      class: "agt-button agt-primary",
      type: "button",
      title: "Enter",
      on: {
        click: () => {
          sendNow();
          area.focus();
        },
      },
    },
    "Send",
  );
  const stop = h(
    "button",
    {
      class: "agt-button agt-stop",
      type: "button",
      title: "Escape",
      hidden: true,
      on: { click: stopNow },
    },
    "Stop",
  );
  const hint = h("div", { class: "agt-keys agt-quiet" });
  const composer = h(
    "div",
    { class: "agt-composer" },
    h("div", { class: "agt-composerline" }, area, send, stop),
    hint,
  );
  const frame = h(
    "section",
    { class: "agt-frame", "aria-label": "Chat" },
    h("div", { class: "agt-head" }, title, state, h("span", { class: "agt-grow" }), count),
    h("div", { class: "agt-scrollplace" }, scroller, newest),
    desk,
    composer,
    spoken,
  );

  // -- scrolling: it stays at the end, unless somebody reads further up -----------------------------
  let stick = true;
  let ours = 0;
  const toEnd = () => {
    stick = true;
    scroller.scrollTop = scroller.scrollHeight;
    ours = scroller.scrollTop;
    newest.hidden = true;
  };
  scroller.addEventListener("scroll", () => {
    const left = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (left < NEAR_END) stick = true;
    // What grows below leaves the place where it is; only a person scrolls up.
    else if (scroller.scrollTop < ours - 2) stick = false;
    ours = scroller.scrollTop;
    newest.hidden = stick || left < NEAR_END;
    if (scroller.scrollTop < 200 && !earlier.hidden && !stick) askEarlier();
  });
  // What somebody opens is what they want to see: it must not be scrolled away by its own height.
  listPlace.addEventListener("click", () => {
    if (scroller.scrollHeight > scroller.clientHeight) stick = false;
  });
  newest.addEventListener("click", toEnd);
  // Pictures, details and Markdown change their height after they were drawn.
  const sizes = new ResizeObserver(() => {
    if (stick) toEnd();
  });
  sizes.observe(listPlace);
  sizes.observe(scroller);

  let asked = 0;
  const askEarlier = () => {
    const first = store.entries()[0]?.n ?? 0;
    if (asked === first || !view.live()) return;
    asked = first;
    view.send("earlier", { before: first });
  };
  earlier.addEventListener("click", askEarlier);

  // -- drawing ------------------------------------------------------------------------------------
  const drawHead = () => {
    const { head } = store;
    setText(title, head.title);
    const seconds = store.busy();
    const [kind, words] = head.closed
      ? ["cancelled", "closed"]
      : seconds === null
        ? ["ok", "ready"]
        : [
            "running",
            head.stopping
              ? "stopping…"
              : `answering ${seconds < 60 ? `${seconds.toFixed(1)} s` : duration(seconds)}`,
          ];
    state.className = `agt-status agt-${kind}`;
    setText(state, words);
    const parts = [head.tool_count > 0 && plural(head.tool_count, "tool"), tokens(head.usage)];
    if (head.secs > 0) parts.push(duration(head.secs));
    setText(count, parts.filter(Boolean).join(" · "));
    count.title = `${usageWords(head.usage)}; ${duration(head.secs)} of the model's time`;
    const last = store.entries().at(-1);
    const isWriting = last?.k === "model" && !last.done && (last.text !== "" || last.calls?.length);
    const isCalling =
      last?.k === "model" && last.done && last.calls?.some((call) => !("outcome" in call));
    pending.hidden = seconds === null || Boolean(isWriting || isCalling) || head.desk !== null;
    setText(waited, seconds !== null && seconds > 2 ? duration(Math.floor(seconds)) : "");
  };
  const drawComposer = () => {
    const { head } = store;
    const busy = head.busy !== null;
    send.hidden = busy;
    stop.hidden = !busy;
    stop.disabled = head.stopping || !view.live();
    setText(stop, head.stopping ? "Stopping…" : "Stop");
    send.disabled = !view.live() || head.closed || !area.value.trim();
    area.readOnly = !view.live() || head.closed;
    composer.hidden = !view.live();
    const open = head.model ? `Message ${head.model}` : "Message";
    const label = head.closed ? "This conversation is closed" : open;
    if (area.placeholder !== label) {
      area.placeholder = label;
      area.setAttribute("aria-label", label);
    }
    setText(hint, busy ? "Esc stops" : "Enter sends · Shift+Enter begins a line");
  };
  let greeted = "";
  const drawWelcome = () => {
    const { head } = store;
    welcome.hidden = store.entries().length > 0 || head.busy !== null;
    const now = JSON.stringify([head.model, head.tools, head.tool_count]);
    if (welcome.hidden || now === greeted) return;
    greeted = now;
    const more = head.tool_count - head.tools.length;
    fill(
      welcome,
      h(
        "div",
        { class: "agt-welcometitle" },
        head.model ? `Say something to ${head.model}` : "Say something",
      ),
      head.tool_count > 0 &&
        h(
          "div",
          { class: "agt-tags" },
          h("span", { class: "agt-quiet" }, "It can call"),
          head.tools.map((name) => h("span", { class: "agt-tag agt-mono" }, name)),
          more > 0 && h("span", { class: "agt-quiet" }, `and ${more} more`),
        ),
    );
  };
  /** @type {string | null} */
  let deskShown = null;
  let takeDesk = () => {};
  const drawDesk = () => {
    const id = store.head.desk;
    if (id === deskShown) return;
    deskShown = id;
    takeDesk();
    takeDesk = () => {};
    desk.hidden = id === null;
    if (id !== null) {
      const slot = h("div");
      fill(desk, slot);
      takeDesk = mount(context.model, id, slot);
    }
  };
  let wasBusy = false;
  const speak = () => {
    const busy = store.head.busy !== null;
    if (wasBusy && !busy) {
      // As it is drawn: nobody wants to hear the marks of Markdown.
      const said = [...list.el.querySelectorAll(".agt-model > .agt-markdown")].at(-1);
      setText(spoken, (said?.textContent ?? "").slice(0, SPOKEN));
    } else if (busy && !wasBusy) setText(spoken, "Answering");
    wasBusy = busy;
  };
  const drawList = () => {
    if (store.root !== root) {
      root = store.root;
      // A version shares messages with the one before it, but another list is another list.
      const next = transcript(place, root);
      list.dispose();
      list = next;
      stick = true;
      fill(listPlace, list.el);
    }
    list.update(store.entries());
    earlier.hidden = store.earlier === 0;
    setText(earlier, `Show earlier messages (${store.earlier.toLocaleString("en")})`);
  };
  const draw = () => {
    if (stick && store.entries().length > MOST_DRAWN) {
      store.trim(KEPT_DRAWN);
      asked = 0;
    }
    drawList();
    drawHead();
    drawComposer();
    drawWelcome();
    drawDesk();
    speak();
    if (stick) toEnd();
    const ticking = store.head.busy !== null && view.live();
    if (ticking && timer === undefined) timer = setInterval(drawHead, TICK_MS);
    if (!ticking) {
      clearInterval(timer);
      timer = undefined;
    }
  };

  /** @type {Chat | null} */
  let taken = null;
  /** @type {ReturnType<typeof connect<Chat>>} */
  const view = connect(context, "chat", {
    draw(data) {
      if (data !== taken) store.replace(data);
      taken = data;
      draw();
    },
    messages: {
      patch(message) {
        if (store.patch(message)) draw();
        else view.send("ready", { rev: store.rev });
      },
      earlier(message) {
        const before = scroller.scrollHeight - scroller.scrollTop;
        store.prepend(message);
        draw();
        if (!stick) scroller.scrollTop = scroller.scrollHeight - before;
        ours = scroller.scrollTop;
      },
      detail(message) {
        store.change(message.list, message.n, (entry) => ({
          ...entry,
          calls: (entry.calls ?? []).map((call) =>
            call.i === message.i
              ? { ...call, detail: message.detail, output: message.output }
              : call,
          ),
        }));
        draw();
      },
      raw(message) {
        store.change(message.list, message.n, (entry) => ({ ...entry, raw: message }));
        draw();
      },
    },
    dispose() {
      clearInterval(timer);
      sizes.disconnect();
      list.dispose();
      takeDesk();
    },
  });
  view.root.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && store.head.busy !== null) {
      event.preventDefault();
      stopNow();
    }
  });
  fill(view.body, frame);
  view.start();
  requestAnimationFrame(() => area.grow());
  return () => view.dispose();
}

export default { render };
