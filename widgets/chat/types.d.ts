import type { Output } from "../batch/store.js";
import type { Detail } from "../lib/detail.js";
import type { Bar } from "../lib/progress.js";
import type { BaseData, MediaPart, Message } from "../lib/types";

export type Usage = [input: number, output: number, isEstimate: boolean];

export interface Call {
  i: number;
  name: string;
  /** The arguments in one line, or what the tool's author shows in their place. */
  args: string;
  status: "waiting" | "asking" | "running" | "ok" | "error" | "invalid" | "cancelled" | "denied";
  changes: number;
  /** Seconds that it has run, when this was sent. */
  running?: number;
  duration?: number;
  outcome?: string;
  bars?: Bar[];
  line?: string;
  output?: Output;
  /** Which repair in a row the model is asked for, of at most so many. */
  repair?: number;
  of?: number;
  /** Ids of the models of cards that ask a person. */
  cards?: string[];
  /** The list of what a subagent says. */
  child?: number;
  /** What people call it. */
  agent?: string;
  detail?: Detail;
  media?: MediaPart[];
  media_note?: string;
  /** When it was received, by the browser's clock. */
  at?: number;
}

export interface Entry {
  n: number;
  k: "user" | "model" | "end" | "thread";
  text: string;
  /** What is left out of the text. */
  cut?: string;
  id?: string;
  at?: number;
  /** What it came from, where no person said it. */
  event?: string | null;
  media?: MediaPart[];
  media_note?: string;
  calls?: Call[];
  done?: boolean;
  stop?: string;
  error?: string;
  notes?: string[];
  usage?: Usage;
  secs?: number;
  reason?: string;
  detail?: string;
  output?: string;
  output_note?: string;
  raw?: Message;
  /** The list of what was said apart from the conversation. */
  child?: number;
}

export interface Head {
  title: string;
  /** Whom a message is to; "" where a title or a person at the desk says that better. */
  model: string;
  tools: string[];
  tool_count: number;
  /** Seconds since the answer began that is being given, when this was sent. */
  busy: number | null;
  stopping: boolean;
  usage: Usage;
  secs: number;
  closed: boolean;
  /** By message id: the messages that stand at its place in this and other branches. */
  versions: Record<string, string[]>;
  /** The view of a model that a person plays. */
  desk: string | null;
}

export interface Chat extends BaseData, Head {
  root: number;
  lists: Record<string, Entry[]>;
  /** Messages before the first that is here. */
  earlier: number;
}

/** What entries need of the view that they stand in. */
export interface Place {
  live(): boolean;
  head(): Head & { root: number };
  send(type: string, fields?: Record<string, unknown>): void;
  /** Draw another model's view. */
  mount(id: string, el: HTMLElement): () => void;
  /** The list of a subagent. */
  list(id: number): Entry[];
}

/** An element that is brought in step with what it shows. */
export interface Drawn<T> {
  el: HTMLElement;
  update(item: T): void;
  dispose(): void;
}
