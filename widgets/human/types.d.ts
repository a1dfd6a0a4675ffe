import type { BaseData } from "../lib/types";

export interface Part {
  role: "user" | "model" | "call" | "result";
  text: string;
  /** The tool of a call or a result. */
  name?: string;
  status?: string;
  /** What a user's message came from, where no person said it. */
  event?: string;
}

export interface OfferedTool {
  name: string;
  about: string;
  /** Its declaration in the provider's form, JSON text. */
  json: string;
  tokens: number;
}

export interface Asked {
  system: string;
  earlier: number;
  messages: Part[];
  tools: OfferedTool[];
  must_call: boolean;
  /** Estimated: four characters a token. */
  tokens: { system: number; tools: number; messages: number; total: number };
}

export interface Human extends BaseData {
  turn: number;
  asked: Asked | null;
  provider: string;
  providers: string[];
  /** Seconds since it was asked, when this was sent. */
  waited: number;
  /** What became of the last turn: "answered", "stopped"; "" if there was none. */
  ended: string;
  /** The model of the form of the tool that was picked. */
  form: string | null;
  tool: string | null;
  /** Calls that were collected. */
  tray: string[];
  refused: string;
  may_insist: boolean;
  past: { number: number; words: string; secs: number; answered: boolean }[];
}
