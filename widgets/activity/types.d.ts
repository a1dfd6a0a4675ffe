import type { BaseData } from "../lib/types";

export type Status = "running" | "waiting" | "ok" | "error" | "cancelled";

/** A task, a subscription or a trigger. */
export interface Work {
  way: "task" | "subscription" | "trigger";
  id: string;
  /** What it is, in words. */
  kind: string;
  name: string;
  args: string;
  status: Status;
  word: string;
  /** Result, error, count or how far it is, on one line. */
  text: string;
  /** Which part is done, 0 to 1; null where nobody knows. */
  share: number | null;
  /** Unix time in seconds; null where nobody noted it. */
  began: number | null;
  ended: number | null;
  /** Of a subscription: when the last event came. */
  last?: number | null;
  cancelling: boolean;
}

export interface InboxEvent {
  /** Its place in the inbox. */
  id: number;
  kind: "result" | "event" | "message" | "report";
  name: string;
  status: Status;
  word: string;
  text: string;
  error: string | null;
  final: boolean;
  at: number;
}

export interface Detail {
  facts: [name: string, text: string, hint?: string][];
  /** Each holds JSON text or plain text. */
  parts: { title: string; json?: string; text?: string; note: string }[];
}

export interface Activity extends BaseData {
  running: Work[];
  more_running: number;
  ended: Work[];
  more_ended: number;
  events: InboxEvent[];
  more_events: number;
  to_handle: number;
  held: boolean;
}
