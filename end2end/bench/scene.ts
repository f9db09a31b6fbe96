// A release server on a store that has the tasks to be measured, and the place for what was found.

import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";

import type { Page } from "@playwright/test";

import { type WorkerFixtures, test as base, expect } from "../support/fixtures.ts";
import { Server, fakeAgent } from "../support/server.ts";

export { expect };

export const test = base.extend<object, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await Server.start();
      try {
        // The start made the board; the tasks are put into the store while nobody has it.
        await server.kill9();
        const agent = [fakeAgent(), "acp", "--dialect", "codex", "--script", given("BENCH_SCRIPT")];
        await promisify(execFile)(given("BENCH_FILL"), [server.dataDir, ...agent]);
        await server.startAgain();
        await use(server);
      } finally {
        await server.stop();
      }
    },
    { scope: "worker", timeout: 300_000 },
  ],
});

/** What the program that measures says by a variable. */
export function given(variable: string): string {
  const value = process.env[variable];
  if (value === undefined) {
    throw new Error(`${variable} is not set: run \`cargo xtask bench page\``);
  }
  return value;
}

/** A task of the store. */
export interface Scene {
  taskId: string;
  sessionId: string;
}

/** The task of this title. */
export async function scene(page: Page, title: string): Promise<Scene> {
  const response = await page.request.get("/api/v1/board");
  const { tasks } = (await response.json()) as {
    tasks: { id: string; title: string; session: { id: string } }[];
  };
  const task = tasks.find((task) => task.title === `Bench: ${title}`);
  if (task === undefined) {
    throw new Error(`the store has no task ${title}`);
  }
  return { taskId: task.id, sessionId: task.session.id };
}

/** Opens a task's page and waits until it answers to clicks. */
export async function open(page: Page, { taskId }: Scene): Promise<void> {
  await page.goto(`/tasks/${taskId}`);
  await page.locator("html[data-hydrated]").waitFor();
}

/** Notes a number for the table. */
export function note(name: string, value: number): void {
  const path = given("BENCH_RESULTS");
  const known = JSON.parse(readFileSync(path, "utf8")) as Record<string, number>;
  writeFileSync(path, JSON.stringify({ ...known, [name]: value }));
  console.log(`${name}: ${value.toFixed(3)}`);
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (below === undefined || above === undefined) {
    throw new Error("nothing was measured");
  }
  return (below + above) / 2;
}
