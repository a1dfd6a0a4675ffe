/** A person plays the model: what a model is sent, and three ways to answer. */

/** @import { RenderContext } from "../lib/types" */
/** @import { Human } from "./types" */
import { mount } from "../lib/cards.js";
import { fill, h, setText, uniqueId } from "../lib/dom.js";
import { duration, plural } from "../lib/format.js";
import { connect } from "../lib/model.js";
import { tabs } from "../lib/tabs.js";
import { writing } from "../lib/writing.js";
import { requestPart } from "./request.js";

const NAMES = /** @type {Record<string, string>} */ ({
  openai: "OpenAI (chat)",
  "openai-responses": "OpenAI (responses)",
  anthropic: "Anthropic",
  gemini: "Gemini",
  ollama: "Ollama",
});

/** @param {RenderContext} context */
function render(context) {
  const mac = navigator.platform.startsWith("Mac");
  const button = (
    /** @type {string} */ text,
    /** @type {string} */ kind,
    /** @type {() => void} */ click,
  ) => h("button", { class: `agt-button ${kind}`, type: "button", on: { click } }, text);

  // -- head -----------------------------------------------------------------------------------
  const state = h("span", { class: "agt-status" });
  const spoken = h("span", { class: "agt-sr", role: "status" });
  const provider = h("select", {
    class: "agt-input agt-provider",
    "aria-label": "Whose form",
    title: "In whose form you see the request, and answer it as JSON",
    on: { change: () => view.send("provider", { provider: provider.value }) },
  });
  const request = requestPart(() => view.send("wire"));

  // -- calls ----------------------------------------------------------------------------------
  const chips = h("div", { class: "agt-chips", role: "group", "aria-label": "Tools" });
  const formPlace = h("div", { class: "agt-formplace", hidden: true });
  const tray = h("div", {
    class: "agt-tray",
    role: "list",
    "aria-label": "Calls to be sent",
    hidden: true,
  });
  const beside = h("input", {
    class: "agt-input agt-beside",
    type: "text",
    "aria-label": "Text to go with the calls",
    placeholder: "Say something with it (may stay empty)",
    autocomplete: "off",
  });
  const call = button("Call", "agt-primary", () => sendCalls(false));
  const another = button("Add another call", "", () => view.send("add"));
  const insist = button("Send it anyway", "agt-danger", () => sendCalls(true));
  const answerLine = h("div", { class: "agt-answerline" }, call, another, insist, beside);
  const callPage = h("div", { class: "agt-page" }, chips, formPlace, tray, answerLine);
  const sendCalls = (/** @type {boolean} */ anyway) => {
    view.send("call", { insist: anyway, text: beside.value });
  };

  // -- text and JSON --------------------------------------------------------------------------
  const sayNow = () => {
    if (words.value.trim()) view.send("say", { text: words.value });
  };
  const words = writing("What the model says", sayNow, () => words.blur());
  const sayPage = h(
    "div",
    { class: "agt-page agt-sayline" },
    words,
    button("Say it", "agt-primary", sayNow),
  );
  const fault = uniqueId();
  const json = h("textarea", {
    class: "agt-input agt-json",
    rows: "10",
    spellcheck: "false",
    autocomplete: "off",
    "aria-label": "The answer as JSON",
    "aria-describedby": fault,
  });
  const sendJson = () => view.send("json", { text: json.value });
  const jsonPage = h(
    "div",
    { class: "agt-page" },
    json,
    h(
      "div",
      { class: "agt-answerline" },
      button("Send the JSON", "agt-primary", sendJson),
      button("Begin again", "", () => {
        json.value = "";
        view.send("wire");
      }),
      h("span", { class: "agt-quiet" }, "Any provider's form will do."),
    ),
  );
  json.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    sendJson();
  });
  callPage.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    sendCalls(false);
  });
  callPage.addEventListener("agt-submit", () => sendCalls(false));
  call.title = mac ? "⌘ Enter" : "Ctrl+Enter";
  let example = "";
  let page = "call";
  const pages = tabs(
    "Your answer",
    [
      { id: "call", title: "Call a tool", body: () => callPage },
      { id: "say", title: "Say something", body: () => sayPage },
      { id: "json", title: "Write JSON", body: () => jsonPage },
    ],
    {
      changed(id) {
        page = id;
        if (id === "json" && !json.value) view.send("wire");
        if (id === "say") requestAnimationFrame(() => words.grow());
      },
    },
  );
  pages.bar.prepend(h("span", { class: "agt-label agt-yours" }, "Your answer"));
  const refused = h("div", { class: "agt-refused", role: "alert", id: fault, hidden: true });
  const answer = h("div", { class: "agt-answer" }, pages.el, refused);

  // -- turns --------------------------------------------------------------------------------------
  const asked = h("div", null, request.el, answer);
  const idle = h("div", { class: "agt-idle agt-quiet" });
  const past = h("details", { class: "agt-pastturns", hidden: true });
  const frame = h(
    "section",
    { class: "agt-frame", "aria-label": "You are the model", tabindex: "-1" },
    h(
      "div",
      { class: "agt-head" },
      h("span", { class: "agt-title" }, "You are the model"),
      state,
      h("span", { class: "agt-grow" }),
      provider,
    ),
    asked,
    idle,
    past,
    spoken,
  );

  let offered = "";
  /** @param {Human} data */
  const drawChips = (data) => {
    const tools = data.asked?.tools ?? [];
    const now = JSON.stringify([tools.map((tool) => [tool.name, tool.about]), data.tool]);
    if (now === offered) return;
    offered = now;
    const had = chips.contains(document.activeElement);
    fill(
      chips,
      tools.length === 0 &&
        h("span", { class: "agt-quiet" }, "This request offers no tools: answer with text."),
      tools.map((tool) =>
        h(
          "button",
          {
            class: "agt-button agt-chip",
            type: "button",
            title: tool.about,
            "aria-pressed": String(tool.name === data.tool),
            on: {
              click: () =>
                view.send("pick", { name: tool.name === view.data().tool ? null : tool.name }),
            },
          },
          tool.name,
        ),
      ),
    );
    if (had)
      /** @type {HTMLElement | null} */ (chips.querySelector("[aria-pressed='true']"))?.focus();
  };
  /** @type {string | null} */
  let form = null;
  let takeForm = () => {};
  /** @param {string | null} id */
  const drawForm = (id) => {
    if (id === form) return;
    form = id;
    takeForm();
    takeForm = () => {};
    formPlace.hidden = id === null;
    if (id !== null) {
      const slot = h("div");
      fill(formPlace, slot);
      takeForm = mount(context.model, id, slot);
    }
  };
  /** @param {Human} data */
  const drawTray = (data) => {
    tray.hidden = data.tray.length === 0;
    fill(
      tray,
      data.tray.map((text, i) =>
        h(
          "div",
          { class: "agt-traycall", role: "listitem" },
          h("span", { class: "agt-mono" }, text),
          h(
            "button",
            {
              class: "agt-link",
              type: "button",
              "aria-label": `Remove ${text.slice(0, 60)}`,
              on: { click: () => view.send("drop", { i }) },
            },
            "Remove",
          ),
        ),
      ),
    );
    const count = data.tray.length + (data.form === null ? 0 : 1);
    setText(
      call,
      count > 1 ? `Send ${plural(count, "call")}` : data.tool ? `Call ${data.tool}` : "Call",
    );
    call.disabled = !view.live();
    another.hidden = data.form === null;
    insist.hidden = !data.may_insist || data.form === null;
    answerLine.hidden = count === 0;
  };
  let pastDrawn = "";
  /** @param {Human} data */
  const drawPast = (data) => {
    const now = JSON.stringify(data.past);
    past.hidden = data.past.length === 0;
    if (now === pastDrawn) return;
    pastDrawn = now;
    fill(
      past,
      h("summary", { class: "agt-quiet" }, `${plural(data.past.length, "turn")} before this`),
      data.past.map((turn) =>
        h(
          "div",
          { class: "agt-pastturn" },
          h("span", { class: "agt-quiet" }, `${turn.number}`),
          h("span", { class: turn.answered ? "agt-mono" : "agt-quiet" }, turn.words),
          h("span", { class: "agt-quiet" }, duration(turn.secs)),
        ),
      ),
    );
  };
  let turn = 0;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;
  let began = 0;
  const tick = () => {
    const waited = Math.floor((performance.now() - began) / 1000);
    setText(
      state,
      waited > 2 ? `your turn · ${waited < 60 ? `${waited} s` : duration(waited)}` : "your turn",
    );
  };
  /** @param {Human} data */
  const drawState = (data) => {
    const isAsked = data.asked !== null;
    state.className = `agt-status ${isAsked ? "agt-asking agt-running" : "agt-idlestate"}`;
    frame.classList.toggle("agt-yourturn", isAsked);
    began = performance.now() - data.waited * 1000;
    clearInterval(timer);
    timer = isAsked && view.live() ? setInterval(tick, 1000) : undefined;
    if (isAsked) tick();
    else setText(state, data.ended || "no request yet");
    setText(spoken, isAsked ? "Your turn: a request waits for your answer" : "");
    setText(
      idle,
      data.turn === 0
        ? "When the conversation asks its model, you see here what it is sent."
        : "Waiting for the next request.",
    );
  };

  /** @type {ReturnType<typeof connect<Human>>} */
  const view = connect(context, "human", {
    draw(data) {
      if (provider.options.length === 0)
        fill(
          provider,
          data.providers.map((name) => h("option", { value: name }, NAMES[name] ?? name)),
        );
      if (provider.value !== data.provider) provider.value = data.provider;
      provider.disabled = !view.live();
      // Who has answered by keyboard goes on from here.
      if (data.asked === null && asked.contains(document.activeElement)) frame.focus();
      asked.hidden = data.asked === null;
      idle.hidden = data.asked !== null;
      if (data.turn !== turn) {
        turn = data.turn;
        words.value = beside.value = json.value = example = "";
        words.grow();
        if (page === "json" && data.asked) view.send("wire");
      }
      if (data.asked) request.update(data.asked, `${data.turn} ${data.provider}`);
      drawChips(data);
      drawForm(data.form);
      drawTray(data);
      drawPast(data);
      drawState(data);
      setText(refused, data.refused);
      refused.hidden = !data.refused;
    },
    messages: {
      wire(message) {
        if (message.turn !== view.data().turn) return;
        request.wire(message.request, message.note);
        // What a person has written stays.
        if (json.value === "" || json.value === example) json.value = message.answer;
        example = message.answer;
      },
    },
    dispose() {
      clearInterval(timer);
      takeForm();
    },
  });
  fill(view.body, frame);
  view.start();
  return () => view.dispose();
}

export default { render };
