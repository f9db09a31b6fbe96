// What every test gets: a server for its worker, and pages on which no error goes unnoticed.

import { type Page, test as base, expect } from "@playwright/test";

import { Complaints } from "./complaints.ts";
import { Server } from "./server.ts";

export interface Fixtures {
  /** A page of a browser that is let in, on the board. */
  page: Page;
  /** A page of a browser that was never let in, blank. */
  stranger: Page;
  /** Announces an error that the test provokes: console, failed request or status over 399. */
  expectConsole: (pattern: RegExp) => void;
  complaints: Complaints;
}

export interface WorkerFixtures {
  server: Server;
}

export const test = base.extend<Fixtures, WorkerFixtures>({
  server: [
    async ({}, use) => {
      const server = await Server.start();
      await use(server);
      await server.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],

  baseURL: async ({ server }, use) => use(server.origin),

  complaints: [
    async ({ context, server }, use, testInfo) => {
      const complaints = new Complaints(context, server.origin);
      await use(complaints);
      if (testInfo.status !== testInfo.expectedStatus) {
        await testInfo.attach("server log", { body: server.log, contentType: "text/plain" });
      }
      complaints.verify();
    },
    { auto: true },
  ],

  expectConsole: async ({ complaints }, use) => use((pattern) => complaints.expect(pattern)),

  page: async ({ page, server, complaints: _ }, use) => {
    await page.goto(await server.link());
    await page.waitForURL(`${server.origin}/`);
    await use(page);
  },

  stranger: async ({ context, complaints: _ }, use) => use(await context.newPage()),
});

export { expect };
