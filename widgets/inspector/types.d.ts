import type { BaseData } from "../lib/types";

export interface Write {
  seq: number;
  /** Empty for a write of the whole state. */
  key: string;
  operation: "set" | "update" | "delete" | "reset" | "load";
  /** JSON text, shortened. */
  text: string;
  tool: string | null;
  call: string | null;
  /** Unix time in seconds. */
  at: number;
}

/** A write with the number of its step. */
export interface PlacedWrite extends Write {
  steps: Record<By, number>;
}

export interface Entry {
  key: string;
  /** JSON text. */
  text: string;
  /** What was left out of it. */
  note: string;
  /** The last one. */
  write: Write | null;
  /** JSON Pointers below the whole state at which a searched text stands. */
  places?: string[];
}

export interface Change {
  pointer: string;
  /** JSON text; null where there was nothing. */
  before: string | null;
  after: string | null;
}

export interface Changes {
  changes: Change[];
  more_changes: number;
}

/** What one step of the slider is. */
export type By = "call" | "write";

export interface Snapshot {
  name: string;
  at: number;
  keys: number;
}

export interface State extends BaseData {
  title: string;
  keys: Entry[];
  more_keys: number;
  writes: PlacedWrite[];
  total_writes: number;
  /** The first and the last step; one before the first is a position, too. */
  steps: Record<By, [first: number, last: number]>;
  snapshots: Snapshot[];
}

/** The state as it was after a step. */
export interface Moment extends Changes {
  by: By;
  at: number;
  write: Write | null;
  writes: number;
  /** Where it stands, for each kind of step. */
  steps: Record<By, number>;
  keys: Entry[];
  more_keys: number;
}

/** What a search has found. */
export interface Found {
  text: string;
  by?: By;
  at?: number;
  keys: Entry[];
  more_keys: number;
  writes: PlacedWrite[];
  more_writes: number;
  is_cut: boolean;
  /** Seconds that the search took. */
  took: number;
  upto: number;
}
