// What axe finds on each state of the pages, light and dark.

import { AxeBuilder } from "@axe-core/playwright";
import type { Page } from "@playwright/test";

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";

/** Fails on every finding that is serious or worse, in both themes. */
async function inspect(page: Page, state: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    const found = serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join("\n  ")}`);
    expect(found, `${state}, ${colorScheme}`).toEqual([]);
  }
}

test("[K-072] axe finds nothing serious on the board and in its dialogs", async ({ page, stranger }) => {
  const board = new BoardPage(page);
  await board.ready();
  await inspect(page, "board");
  await board.openDialog();
  await inspect(page, "new task");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keys" })).toBeVisible();
  await inspect(page, "keys");
  await stranger.context().clearCookies();
  await stranger.goto("/login");
  await inspect(stranger, "login");
});

test("[K-072] [S-049] axe finds nothing serious in a chat: running, failed, cancelled, open, asking", async ({
  page,
}) => {
  test.setTimeout(90_000);
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = [
    "think Hm.",
    "say # Heading\\n\\n- a\\n\\n```rust\\nlet x = 1;\\n```\\n\\n| a |\\n|---|\\n| 1 |",
    "run works => 0 | one\\n",
    "run fails => 4 | two\\n",
    "run unknown => ?",
    "start runs on\nout three\\n",
    "hang",
  ].join("\n");
  await board.create({ prompt, folder: folder(), command: command() });
  await expect(task.shell("runs on").mark("Command running")).toBeVisible();
  await inspect(page, "running");
  await task.shell("fails").toggle.click();
  await expect(task.shell("fails").body).toHaveText("two\n");
  await inspect(page, "output open");
  await task.prompt("say queued");
  await expect(task.queue).toBeVisible();
  await inspect(page, "a message waits");
  await task.stop.click();
  await expect(task.shell("runs on").mark("Command cancelled")).toBeVisible();
  await inspect(page, "cancelled");
  await task.prompt("ask git push");
  await expect(task.ask).toBeVisible();
  await inspect(page, "asking");
});

test("[K-072] axe finds nothing serious when the agent failed, and when there is no connection", async ({
  page,
  context,
  expectConsole,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say On it.\ncrash 7", folder: folder(), command: command() });
  await expect(task.log.getByText(/exit code 7/)).toBeVisible();
  await inspect(page, "failed");
  expectConsole(/WebSocket|ERR_|request failed/);
  await context.setOffline(true);
  await page.evaluate(() => dispatchEvent(new Event("offline")));
  await inspect(page, "offline");
  await context.setOffline(false);
});
