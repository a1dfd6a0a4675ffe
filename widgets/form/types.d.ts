import type { BaseData, MediaPart, Model } from "../lib/types";

/** One field of the plan; agtools_nb/views/form_plan.py says what the keys mean. */
export interface Field {
  kind: string;
  type?: string;
  title?: string;
  required?: boolean;
  about?: string;
  notes?: string[];
  default?: string;
  bounds?: string;
  nullable?: boolean;
  label?: string;
  options?: { label: string; json: string }[];
  fields?: Field[];
  extra?: Field | null;
  quiet?: boolean;
  items?: Field | null;
  prefix?: Field[];
  more?: boolean;
  branches?: Field[];
  ref?: string;
  unknown?: boolean;
}

/** One place of the arguments; agtools_nb/views/form_wire.py says what the keys mean. */
export interface Wire {
  s: "unset" | "text" | "number" | "bool" | "option" | "null" | "object" | "array" | "json";
  x?: string | boolean;
  o?: number;
  e?: [string, Wire][];
  i?: [number, Wire][];
  f?: string;
  b?: number;
  none?: boolean;
  odd?: boolean;
}

export interface Fault {
  at: string;
  text: string;
  missing?: boolean;
  /** JSON text that does not parse: nothing can be run until it does. */
  unreadable?: boolean;
  quiet?: boolean;
}

export interface Line {
  t: string;
  m?: string;
  n?: string;
}

export interface Outcome {
  status: "ok" | "error" | "invalid" | "cancelled" | "denied";
  duration: number;
  stale: boolean;
  result?: string;
  result_note?: string;
  error?: string;
  error_note?: string;
  stdout?: string;
  stdout_note?: string;
  stderr?: string;
  stderr_note?: string;
  warnings?: string;
  warnings_note?: string;
  media?: MediaPart[];
  media_note?: string;
  traceback?: string;
  notes?: string[];
}

export interface FormData extends BaseData {
  tool: { name: string; about: string };
  seen: Record<string, number>;
  tree: Wire;
  left: string[];
  json: string;
  json_fault: string;
  faults: Fault[];
  came: Line[];
  gets: Line[];
  /** What is to be said of the arguments as the tool gets them. */
  gets_note: string;
  ok: boolean;
  can_undo: boolean;
  can_run: boolean;
  can_stop: boolean;
  running: boolean;
  /** Whether the run waits for a person. */
  asking: boolean;
  result: Outcome | null;
}

export interface Plan {
  root: Field;
  defs: Record<string, Field>;
}

export type Step = string | number;
export type Path = () => Step[];

/** What draws one place: an element that `update` brings in step. */
export interface Part {
  el: HTMLElement;
  update(wire: Wire, pointer: string): void;
}

/** What edits one value inside a row. */
export interface Control extends Part {
  /** What a label is for. */
  input?: HTMLElement;
  /** Whether it lies below the row, at full width. */
  block?: boolean;
  /** What stands on the row's own line instead of an input. */
  head?: HTMLElement;
  invalid?(on: boolean): void;
}

/** What takes the faults of a place. */
export interface Place {
  faults(found: Fault[]): void;
}

export interface Context {
  resolve(field: Field): Field;
  /** Send an edit; returns its number. */
  edit(op: string, path: Path, more?: Record<string, unknown>): number;
  /** Send `op` a little later, with the newest text; other edits send it before themselves. */
  later(send: () => void): void;
  /** Whether Python has seen edit number `seq`. */
  seen(seq: number): boolean;
  left: Set<string>;
  places: Map<string, Place>;
  refusals: Map<string, (text: string) => void>;
}

export type FormModel = Model & { get(name: "plan"): Plan };
