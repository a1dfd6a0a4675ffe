/** The part of anywidget's model that views use. */
export interface Model {
  get(name: "data"): unknown;
  on(event: string, handler: (...args: any[]) => void): void;
  off(event: string, handler: (...args: any[]) => void): void;
  send(content: unknown): void;
  widget_manager?: {
    get_model(id: string): Promise<{ comm_live?: boolean }>;
    create_view?(model: object, options: object): Promise<{ el: HTMLElement; remove(): void }>;
  };
}

/** What anywidget hands to `render`. */
export interface RenderContext {
  model: Model;
  el: HTMLElement;
  signal?: AbortSignal;
}

/** A message from Python; `type` says which. */
export type Message = { type: string; [field: string]: any };

export interface Problem {
  text: string;
  detail?: string;
}

/** What every view's `data` carries besides its own state. */
export interface BaseData {
  /** The model's id. */
  id: string;
  rev: number;
  problem: Problem | null;
  /** Cards that ask a person, drawn below the view: the ids of their models. */
  cards?: { ids: string[]; more: number };
}

/** JSON with every number as the text it was written as, so that none loses a digit. */
export type JsonNode =
  | { kind: "object"; entries: [string, JsonNode][] }
  | { kind: "array"; items: JsonNode[] }
  | { kind: "string"; text: string }
  | { kind: "number"; text: string }
  | { kind: "word"; text: "true" | "false" | "null" };

/** One image, sound or file of a result. */
export interface MediaPart {
  /** What it is, in words. */
  about: string;
  /** A `data:` URI of a raster image. */
  src?: string;
  /** An `https` address. */
  href?: string;
}

export type Child = Node | string | number | null | undefined | false | Child[];

export type Attrs = {
  class?: string | undefined;
  style?: Record<string, string> | undefined;
  on?: { [K in keyof HTMLElementEventMap]?: (event: HTMLElementEventMap[K]) => void } | undefined;
  [attribute: string]: any;
};
