// From an empty board to a command's output, through a power cut.

import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { OutputRequests } from "../support/output-requests.ts";
import { command, folder } from "../support/project.ts";

/** Processes whose command line has this in it. */
function processes(marker: string): string {
  return spawnSync("pgrep", ["-f", marker], { encoding: "utf8" }).stdout.trim();
}

test("[S-001] [S-041] [S-043] [S-049] [Q-006] [Q-007] from a prompt to a command's output, and through kill -9", async ({
  page,
  server,
  expectConsole,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const requests = new OutputRequests(page);
  const work = folder();
  const agent = `agent-${randomUUID()}`;
  await board.create({
    prompt: "say I will look.\nshell printf 'one\\ntwo\\n'; exit 4\nsay It failed.",
    folder: work,
    command: command(agent),
  });

  await expect(task.log.getByText("I will look.", { exact: true })).toBeVisible();
  const row = task.shell("exit 4");
  await expect(row.mark("Command failed")).toBeVisible();
  await expect(row.command).toHaveText("printf 'one\\ntwo\\n'; exit 4");
  await expect(row.exit).toHaveCount(1);
  await expect(row.exit).toHaveText("Exit code 4");
  await expect(row.root.getByText(work)).toBeVisible();
  await expect(task.log.getByText("It failed.", { exact: true })).toBeVisible();
  await expect(page.getByText("1.2.3")).toBeVisible();

  await expect(row.toggle).toHaveAttribute("aria-expanded", "false");
  await expect(row.region).toHaveCount(0);
  expect(requests.count).toBe(0);
  await row.toggle.click();
  await expect(row.body).toHaveText("one\ntwo\n");
  await expect(row.exit).toHaveCount(1);
  expect(requests.count).toBe(1);
  await row.toggle.click();
  await expect(row.region).toHaveCount(0);

  // A second command runs when the power goes. What it wrote a second before is safe.
  await task.prompt("start make all\nout step 1\\n\nsleep 1500\nout step 2\\n\nhang");
  const running = task.shell("make all");
  await expect(running.mark("Command running")).toBeVisible();
  await expect(running.toggle).toHaveAttribute("aria-expanded", "false");
  await expect(running.toggle).toContainText("14 B");
  expect(processes(agent)).not.toBe("");
  expectConsole(/WebSocket|ERR_CONNECTION|\/ws|request failed|response 5/);
  await server.kill9();
  await expect(page.getByText(/connection|offline/i).first()).toBeVisible();
  await server.startAgain();

  await expect(running.mark("Command cancelled")).toBeVisible({ timeout: 15_000 });
  await expect(page.getByText(/stopped while the agent was working/)).toBeVisible();
  await page.reload();
  await expect(task.log.getByText("I will look.", { exact: true })).toBeVisible();
  await expect(task.shell("exit 4").exit).toHaveText("Exit code 4");
  await expect(task.shell("make all").exit).toHaveText("Exit code unavailable");
  await page.locator("html[data-hydrated]").waitFor();
  await task.shell("make all").toggle.click();
  await expect(task.shell("make all").body).toHaveText(/^step 1\n/);
  await expect.poll(() => processes(agent)).toBe("");
});

test("[S-042] a command without output offers none, and none can be asked for", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const requests = new OutputRequests(page);
  await board.create({ prompt: "run true => 0 |\nrun odd => ? |", folder: folder(), command: command() });
  const silent = task.shell("true");
  await expect(silent.mark("Command succeeded")).toBeVisible();
  await expect(silent.exit).toHaveText("Exit code 0");
  const unknown = task.shell("odd");
  await expect(unknown.mark("Command status unknown")).toBeVisible();
  await expect(unknown.exit).toHaveText("Exit code unavailable");
  await expect(page.locator(".shell button")).toHaveCount(0);
  expect(requests.count).toBe(0);
});

test("[S-040] a long command wraps whole and the page never scrolls sideways", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const long = `printf ${"abcdefghij".repeat(60)}`;
  await board.create({ prompt: `run ${long} => 0 | ok\\n`, folder: folder(), command: command() });
  await expect(task.shell(long).command).toHaveText(long);
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);
});

test("a permission request shows the command and the answer reaches the agent", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "ask git push --force", folder: folder(), command: command() });
  await expect(task.ask).toContainText("git push --force");
  await task.ask.getByRole("button").first().click();
  await expect(task.log.getByText(/Permission: allow/)).toBeVisible();
  await expect(task.ask).toHaveCount(0);
  await expect(task.log.getByText(/You answered/)).toBeVisible();
});

test("Stop ends the turn, keeps what was there, and the next message works", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "start sleep 60\nout working\\n\nhang", folder: folder(), command: command() });
  await expect(task.shell("sleep 60").mark("Command running")).toBeVisible();
  await task.stop.click();
  await expect(task.shell("sleep 60").mark("Command cancelled")).toBeVisible();
  await expect(task.composer).toBeFocused();
  await expect(task.shell("sleep 60").toggle).toBeVisible();
  await task.prompt("say Back again.");
  await expect(task.log.getByText("Back again.", { exact: true })).toBeVisible();
  await expect(task.composer).toHaveValue("");
});

test("s_025 a command that runs on after Stop is named and can be ended", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = "spawn-child\nstart sleep 600\nhang";
  await board.create({ prompt, folder: folder(), command: command() });
  const row = task.shell("sleep 600");
  await expect(row.mark("Command running")).toBeVisible();
  await task.stop.click();
  await expect(row.mark("Command cancelled")).toBeVisible();
  await expect(row.survivor).toContainText("still runs", { timeout: 15_000 });
  await page.reload();
  await expect(row.survivor).toContainText("still runs");
  await page.locator("html[data-hydrated]").waitFor();
  await row.survivor.getByRole("button", { name: "End process" }).click();
  await expect(row.survivor).toHaveCount(0);
  await expect(task.composer).toBeFocused();
});

test("an agent that crashes is said, and can be tried again", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say On it.\ncrash 7", folder: folder(), command: command() });
  await expect(task.log.getByText(/exit code 7/)).toBeVisible();
  await task.prompt("say Here.");
  await expect(task.log.getByText("Here.", { exact: true })).toBeVisible();
});

test("what is typed while a message is on its way, and before going back to the board, is still there", async ({
  page,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say First.", folder: folder(), command: command() });
  await expect(task.log.getByText("First.", { exact: true })).toBeVisible();
  await expect(task.send).toBeEnabled();
  await task.composer.fill("say Second.");
  await task.composer.press("Enter");
  await task.composer.pressSequentially(" and a thought");
  await expect(task.log.getByText("Second.", { exact: true })).toBeVisible();
  await expect(task.composer).toHaveValue(/and a thought$/);
  await expect(task.composer).not.toHaveValue(/say Second/);
  await page.getByRole("link", { name: "Back to the board" }).click();
  await board.card("say First.").locator(".card__link").click();
  await expect(task.composer).toHaveValue(/and a thought$/);
});
