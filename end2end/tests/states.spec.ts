// States of a chat that come seldom: a request that nobody can answer any more, a line without an
// end, a chat in which nothing was said yet.

import { AxeBuilder } from "@axe-core/playwright";

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";

test("[K-044] a request for leave is void once its agent is gone, and nothing counts it any more", async ({
  page,
  server,
  expectConsole,
}) => {
  test.setTimeout(60_000);
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "ask git push --tags", folder: folder(), command: command() });
  await expect(task.ask).toContainText("git push --tags");
  await expect(page).toHaveTitle(/^\(1\) /);
  expectConsole(/WebSocket|ERR_CONNECTION|\/ws|request failed|response 5/);
  await server.kill9();
  await server.startAgain();
  const answered = task.log.getByText("This request is void. Its agent ended before you answered:");
  await expect(answered).toBeVisible({ timeout: 15_000 });
  await expect(task.ask).toHaveCount(0);
  await expect(page).toHaveTitle(/^[^(]/);
  await page.reload();
  await expect(answered).toBeVisible();
  await expect(task.log.locator(".notice__what", { hasText: "git push --tags" })).toBeVisible();
  await page.getByRole("link", { name: "Back to the board" }).click();
  await expect(board.card("git push --tags").getByRole("button", { name: /Allow/ })).toHaveCount(0);
});

test("[K-044] a request for leave ends with the turn that is stopped", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "ask git push --all", folder: folder(), command: command() });
  await expect(task.ask).toBeVisible();
  await task.stop.click();
  await expect(task.log.getByText("The turn was stopped before you answered:")).toBeVisible();
  await expect(task.ask).toHaveCount(0);
  await task.prompt("say Goes on.");
  await expect(task.log.getByText("Goes on.", { exact: true })).toBeVisible();
});

test("[S-050] a single line of four million characters opens, is said to be cut, and is copied", async ({
  page,
  context,
}) => {
  test.setTimeout(60_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const line = "head -c 4000000 /dev/zero | tr '\\0' x";
  await board.create({ prompt: `shell ${line}`, folder: folder(), command: `${command("codex-acp")} --dialect codex` });
  const row = task.shell("head -c 4000000");
  await expect(row.mark("Command succeeded")).toBeVisible({ timeout: 30_000 });
  await row.toggle.click();
  await expect(row.region).toContainText("Not everything was kept");
  await expect.poll(async () => ((await row.body.textContent()) ?? "").length).toBe(256 * 1024);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await row.region.getByRole("button", { name: "Copy output" }).click();
  await expect(row.region.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(async () => (await navigator.clipboard.readText()).length)).toBe(256 * 1024);
  await row.toggle.click();
  await expect(row.region).toHaveCount(0);
});

test("[K-072] [K-007] axe finds nothing serious in a chat in which nothing was said yet", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say Later", folder: folder(), command: command(), start: false });
  await expect(page.getByRole("button", { name: "Start the agent" })).toBeVisible();
  await expect(task.log.locator(".msg")).toHaveCount(0);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
});
