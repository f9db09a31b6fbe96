// An agent that says something two hundred times a second, and what the page hears of it.

import { writeFileSync } from "node:fs";

import type { Page } from "@playwright/test";

/** What is told: a command's output, which nobody or somebody looks at, or an answer. */
export const KINDS = ["closed", "open", "answer"] as const;
type Kind = (typeof KINDS)[number];

export const FRAMES = 1_000;
/** Between two frames, in turn: less than five milliseconds, since each takes its time. */
const PAUSES_MS = [5, 4];

/** Writes the agent's script: for each run, a turn of each kind. */
export function writeScript(path: string, runs: number): void {
  const turns = Array.from({ length: runs }, () => KINDS.map(turn));
  writeFileSync(path, turns.flat().join("\n---\n"));
}

function turn(kind: Kind): string {
  const frames = Array.from({ length: FRAMES }, (_, at) => {
    const frame = kind === "answer" ? `say ${words(at)}` : `out ${lines(at)}`;
    return `${frame}\nsleep ${PAUSES_MS[at % PAUSES_MS.length]}`;
  });
  const flood = frames.join("\n");
  return kind === "answer" ? flood : `start cargo nextest run --no-fail-fast\n${flood}\nexit 0`;
}

/** So much that in the end there is nearly all that is kept of one command. */
function lines(at: number): string {
  const line = `${at} merger::segment never_waits_for_merge ... ok`.padEnd(86, ".");
  return `${line}\\n`.repeat(3);
}

/** Paragraphs of twenty pieces, in some of which a word is marked. */
function words(at: number): string {
  const marked = at % 8 === 0 ? "`marked`" : at % 8 === 4 ? "**marked**" : "plain";
  const end = at % 20 === 19 ? ".\\n\\n" : ",\\n";
  return `piece ${at} of it has a ${marked} word${end}`;
}

interface Turn {
  started_at: string;
  ended_at: string;
}

/** What the server tells a page. */
export class Told {
  updates = 0;
  private readonly ended: Turn[] = [];
  private waiting: ((turn: Turn) => void) | undefined;

  constructor(page: Page) {
    page.on("websocket", (socket) => {
      socket.on("framereceived", ({ payload }) => this.hear(payload.toString()));
    });
  }

  /** Waits for the end of a turn that nobody has waited for, and says how many seconds it took. */
  async turnSeconds(): Promise<number> {
    const turn = this.ended.shift() ?? (await new Promise<Turn>((resolve) => (this.waiting = resolve)));
    return (Date.parse(turn.ended_at) - Date.parse(turn.started_at)) / 1000;
  }

  private hear(frame: string): void {
    if (frame.includes('"session.message.updated"')) {
      this.updates += 1;
    }
    if (frame.includes('"session.turn.completed"')) {
      const { payload } = JSON.parse(frame) as { payload: { session: { turn: Turn } } };
      const { turn } = payload.session;
      const waiting = this.waiting;
      this.waiting = undefined;
      if (waiting === undefined) {
        this.ended.push(turn);
      } else {
        waiting(turn);
      }
    }
  }
}
