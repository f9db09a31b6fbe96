// A command's output: fetched when somebody looks, never before, and never twice at once.

import type { Page, Route } from "@playwright/test";

import { BoardPage } from "../pages/board.page.ts";
import { type ShellRow, TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { OutputRequests } from "../support/output-requests.ts";
import { command, folder } from "../support/project.ts";

const OUTPUT = "**/shell-output";

async function start(page: Page, prompt: string): Promise<TaskPage> {
  // Before the page sets its timers: this clock cannot clear those of another.
  await page.clock.install();
  await page.reload();
  await new BoardPage(page).create({ prompt, folder: folder(), command: command() });
  return new TaskPage(page);
}

/** Holds requests for output back until they are let go. */
class Gate {
  readonly held: Route[] = [];
  private isOpen = false;

  constructor(page: Page) {
    void page.route(OUTPUT, async (route) => {
      if (this.isOpen) {
        await route.continue();
      } else {
        this.held.push(route);
      }
    });
  }

  async open(): Promise<void> {
    this.isOpen = true;
    for (const route of this.held.splice(0)) {
      // The page may have given it up.
      await route.continue().catch(() => {});
    }
  }
}

/** Whatever was still to happen has had its time. */
async function settled(page: Page): Promise<void> {
  await page.clock.runFor(6_000);
}

test("[S-040] [S-042] [S-049] a command without output has no disclosure and asks for nothing", async ({ page }) => {
  const requests = new OutputRequests(page);
  const long = `echo ${"a-long-argument ".repeat(20)}`.trim();
  const task = await start(page, `run ${long} => 0\nrun no-code => ?`);
  const row = task.shell("a-long-argument");
  await expect(row.mark("Command succeeded")).toBeVisible();
  await expect(row.command).toHaveText(long);
  const overflow = await row.command.evaluate((code) => code.scrollWidth - code.clientWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  await expect(row.toggle).toHaveCount(0);
  await expect(row.exit).toHaveText("Exit code 0");
  const unknown = task.shell("no-code");
  await expect(unknown.mark("Command status unknown")).toBeVisible();
  await expect(unknown.exit).toHaveText("Exit code unavailable");
  expect(requests.count).toBe(0);
});

test("[S-041] [S-044] [S-045] an open output follows its command, one request after the other, to the last", async ({
  page,
}) => {
  const requests = new OutputRequests(page);
  const task = await start(page, "start make\nout step 1\\n\nsleep 4000\nout step 2\\n\nexit 3\nsay over");
  const row = task.shell("make");
  await expect(row.toggle).toHaveAttribute("aria-expanded", "false");
  const gate = new Gate(page);
  await row.toggle.click();
  await settled(page);
  expect(requests.count, "one that hangs is waited for").toBe(1);
  await gate.open();
  await expect(row.body).toHaveText("step 1\n");
  await expect(row.mark("Command failed")).toBeVisible();
  await expect(row.body).toHaveText("step 1\nstep 2\n");
  await expect(row.exit).toHaveCount(1);
  const last = requests.count;
  await settled(page);
  expect(requests.count, "polling is over").toBe(last);
});

test("[S-045] a request that hangs over the end is given up for one last", async ({ page }) => {
  const requests = new OutputRequests(page);
  const task = await start(page, "start make\nout step 1\\n\nsleep 2500\nout step 2\\n\nexit 0\nsay over");
  const row = task.shell("make");
  const gate = new Gate(page);
  await row.toggle.click();
  await expect(row.mark("Command succeeded")).toBeVisible();
  await expect.poll(() => gate.held.length).toBe(2);
  await gate.open();
  await expect(row.body).toHaveText("step 1\nstep 2\n");
  await settled(page);
  expect(requests.count, "the first, and the last").toBe(2);
});

test("[S-046] [S-048] closing gives the request up, and leaving the page ends everything", async ({ page }) => {
  const requests = new OutputRequests(page);
  const task = await start(page, "start make\nout step 1\\n\nhang");
  const row = task.shell("make");
  const gate = new Gate(page);
  await row.toggle.click();
  await expect.poll(() => gate.held.length).toBe(1);
  const failed = page.waitForEvent("requestfailed");
  await row.toggle.click();
  expect((await failed).failure()?.errorText).toBe("net::ERR_ABORTED");
  await gate.open();
  await settled(page);
  await expect(row.region).toHaveCount(0);
  expect(requests.count).toBe(1);
  await row.toggle.click();
  await expect(row.body).toHaveText("step 1\n");
  await page.getByRole("link", { name: "Back to the board" }).click();
  await page.waitForURL((url) => url.pathname === "/");
  const left = requests.count;
  await settled(page);
  expect(requests.count, "nobody looks any more").toBe(left);
});

test("[S-047] what was there stays when the server fails, is said to be old, and comes back", async ({
  page,
  expectConsole,
}) => {
  expectConsole(/shell-output|500/);
  const task = await start(page, "start make\nout step 1\\n\nhang");
  const row = task.shell("make");
  await row.toggle.click();
  await expect(row.body).toHaveText("step 1\n");
  await page.route(OUTPUT, (route) => route.fulfill({ status: 500, json: { code: "INTERNAL", message: "no" } }));
  const retry = row.region.getByRole("button", { name: "Retry" });
  await expect(retry).toBeVisible();
  await expect(row.body).toHaveText("step 1\n");
  await page.unroute(OUTPUT);
  await retry.click();
  await expect(retry).toHaveCount(0);
});

test("[S-031] [S-048] what comes over the socket and in the page has no output in it", async ({ page }) => {
  const told: string[] = [];
  page.on("websocket", (socket) => socket.on("framereceived", (frame) => told.push(String(frame.payload))));
  await page.reload();
  const task = await start(page, "say Hello.");
  await expect(task.log.getByText("Hello.", { exact: true })).toBeVisible();
  await task.prompt("start make\nout SENTI\nout NEL\\n\nexit 0\nsay over");
  const row = task.shell("make");
  await expect(row.mark("Command succeeded")).toBeVisible();
  await row.toggle.click();
  await expect(row.body).toHaveText("SENTINEL\n");
  const html = await (await page.request.get(page.url())).text();
  expect(html).toContain("make");
  // The prompt itself has the two halves apart.
  expect(html).not.toContain("SENTINEL");
  expect(told.join("\n")).toContain("stdout_bytes");
  expect(told.join("\n")).not.toContain("SENTINEL");
});

test("[S-050] what a terminal would draw reads as text, and a line without an end does not hang the page", async ({
  page,
}) => {
  const task = await start(
    page,
    "start colours\nout \\e[31mred\\e[0m plain\\n\nout 10%\\r50%\\r100%\\n\nexit 0\nbig 300000\nsay over",
  );
  const row = task.shell("colours");
  await row.toggle.click();
  await expect(row.body).toHaveText("red plain\n100%\n");
  await expect(task.log.getByText("over", { exact: true })).toBeVisible();
  const big = new TaskPage(page).shell("big");
  await big.toggle.click();
  await expect(big.region).toContainText("Not everything was kept");
  await overlapsNothing(big);
});

/** What follows the output begins below it. */
async function overlapsNothing(row: ShellRow): Promise<void> {
  const gap = await row.root.evaluate((shell) => {
    const work = shell.closest(".work");
    const next = work?.nextElementSibling;
    const bottom = shell.getBoundingClientRect().bottom;
    return next ? next.getBoundingClientRect().top - bottom : 0;
  });
  expect(gap).toBeGreaterThanOrEqual(-1);
}

test("[S-052] a disclosure that is opened before the page is alive is fetched once it is", async ({ page }) => {
  const task = await start(page, "start make\nout step 1\\n\nexit 0\nsay over");
  const row = task.shell("make");
  await expect(row.mark("Command succeeded")).toBeVisible();
  const requests = new OutputRequests(page);
  let arrive = () => {};
  const held = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route("**/*.wasm", async (route) => {
    await held;
    await route.continue();
  });
  await page.reload({ waitUntil: "commit" });
  await row.toggle.click();
  await expect(row.toggle).toHaveAttribute("aria-expanded", "false");
  expect(requests.count).toBe(0);
  arrive();
  await expect(row.body).toHaveText("step 1\n");
  expect(requests.count).toBe(1);
});
