// The board: live on every page, and the dialog that keeps what was typed.

import { BoardPage } from "../pages/board.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";

test("[K-001] what one page does is there on every other without a reload", async ({ page, context, server }) => {
  const title = `Two pages ${Date.now()}`;
  const other = await context.newPage();
  await other.goto(server.origin);
  const theirs = new BoardPage(other);
  await theirs.ready();

  const ours = new BoardPage(page);
  await ours.create({ prompt: title, folder: folder(), command: command(), start: false });
  await expect(theirs.column("Backlog").locator(".card", { hasText: title })).toHaveCount(1);

  await page.goto(server.origin);
  await ours.ready();
  const card = ours.card(title);
  await card.locator(".card__menu summary").click();
  await card.getByRole("button", { name: "Review" }).click();
  await expect(theirs.column("Review").locator(".card", { hasText: title })).toHaveCount(1);
  await expect(theirs.column("Backlog").locator(".card", { hasText: title })).toHaveCount(0);
});

test("a task that cannot be is said at its field, and nothing typed is lost", async ({ page, expectConsole }) => {
  expectConsole(/\/fn\/create_task|status of 4|status of 5/);
  const board = new BoardPage(page);
  await board.openDialog();
  await board.write({ prompt: "Keep me", folder: "not/absolute", command: command() });
  await board.submit();
  await expect(board.dialog.getByText(/full path/)).toBeVisible();
  await expect(board.dialog.getByLabel("Prompt")).toHaveValue("Keep me");
  await page.keyboard.press("Escape");
  await expect(board.dialog).toHaveCount(0);
  await board.openDialog();
  await expect(board.dialog.getByLabel("Prompt")).toHaveValue("Keep me");
});

test("text that is selected to beyond the dialog does not close it, and a corrected field is not wrong", async ({
  page,
  expectConsole,
}) => {
  expectConsole(/\/fn\/create_task|status of 4/);
  const board = new BoardPage(page);
  await board.openDialog();
  await board.submit();
  const prompt = board.dialog.getByLabel("Prompt");
  await expect(prompt).toHaveAttribute("aria-invalid", "true");
  await prompt.fill("Some text to select");
  await expect(prompt).not.toHaveAttribute("aria-invalid", "true");
  const box = await prompt.boundingBox();
  await page.mouse.move((box?.x ?? 0) + 60, (box?.y ?? 0) + 16);
  await page.mouse.down();
  await page.mouse.move(1, 1);
  await page.mouse.up();
  await expect(board.dialog).toBeVisible();
});

test("the keyboard opens and closes the dialog and reaches a card", async ({ page }) => {
  const board = new BoardPage(page);
  await board.ready();
  await page.keyboard.press("c");
  await expect(board.dialog).toBeVisible();
  await expect(board.dialog.getByLabel("Prompt")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(board.dialog).toHaveCount(0);
});

test("[K-007] nothing scrolls sideways and the first page needs no script to show itself", async ({ page, browser, server }) => {
  const board = new BoardPage(page);
  await board.ready();
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow).toBeLessThanOrEqual(0);

  const plain = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
  });
  const still = await plain.newPage();
  await still.goto(server.origin);
  await expect(still.locator(".column")).toHaveCount(4);
  await plain.close();
});

test("a page that is not there says so and leads back", async ({ page, server, expectConsole }) => {
  expectConsole(/404/);
  await page.goto(`${server.origin}/tasks/nope`);
  await expect(page.getByRole("link", { name: /board/i }).first()).toBeVisible();
});
