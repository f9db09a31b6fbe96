// What a task needs: a folder to work in, and the scripted agent as a custom command.

import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { fakeAgent } from "./server.ts";

/** An empty folder. */
export function folder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), "kandev-project-")));
}

/** The command line of the scripted agent. */
export function command(name = "Test agent"): string {
  return `'${fakeAgent()}' acp --name "${name}" --version 1.2.3`;
}
