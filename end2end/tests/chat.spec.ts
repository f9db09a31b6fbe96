// The chat: what is written is read well, what waits is seen, and a long history stays light.

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";

const MARKDOWN = [
  "# Done",
  "",
  "It *works*, see `main`:",
  "",
  "- a",
  "- b",
  "",
  "```rust",
  "let x = 1; // one",
  "```",
  "",
  "<script>alert(1)</script>",
  "",
  "[safe](https://example.test/) [not](javascript:alert(1))",
].join("\\n");

/** Longer than a phone is wide. */
const THIRD = "say Third. It is longer than any line of a phone, and longer than one of a desktop is not needed.";

test("[K-004] an answer is rendered, its code is coloured, and nothing of it is markup", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: `say ${MARKDOWN}`, folder: folder(), command: command() });
  await expect(task.log.getByRole("heading", { name: "Done" })).toBeVisible();
  await expect(task.log.getByRole("listitem").filter({ hasText: /^[ab]$/ })).toHaveCount(2);
  await expect(task.log.locator("pre .k")).toHaveText(["let"]);
  await expect(task.log.locator("pre .c")).toContainText("// one");
  await expect(task.log.locator(".prose p", { hasText: "<script>alert(1)</script>" })).toBeVisible();
  await expect(task.log.locator(".prose script")).toHaveCount(0);
  const safe = task.log.getByRole("link", { name: "safe" });
  await expect(safe).toHaveAttribute("rel", /noopener/);
  await expect(safe).toHaveAttribute("target", "_blank");
  await expect(task.log.getByRole("link", { name: "not" })).toHaveCount(0);
  await page.reload();
  await expect(task.log.getByRole("heading", { name: "Done" })).toBeVisible();
});

test("[K-004] what is marked in an answer stays marked while more of it comes", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = "say First paragraph.\\n\\n\nsleep 1500\nsay Second paragraph.\\n\\n\nsleep 600\nsay Third.";
  await board.create({ prompt, folder: folder(), command: command() });
  const first = task.log.locator(".prose p").first();
  await expect(first).toHaveText("First paragraph.");
  await first.evaluate((p) => getSelection()?.selectAllChildren(p));
  await expect(task.log.getByText("Third.")).toBeVisible();
  expect(await page.evaluate(() => getSelection()?.toString().trim())).toBe("First paragraph.");
});

test("[K-045] messages to an agent that works wait, can be taken back, and are sent in order", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say Working.\nhang", folder: folder(), command: command() });
  await expect(task.log.getByText("Working.", { exact: true })).toBeVisible();
  await task.prompt("say Second.");
  await task.prompt(THIRD);
  await expect(task.queue.getByRole("listitem")).toHaveCount(2);
  const overflow = await task.queue.evaluate((queue) => queue.scrollWidth - queue.clientWidth);
  expect(overflow, "a long message is cut, not wider than the page").toBeLessThanOrEqual(0);
  await page.reload();
  await expect(task.queue.getByRole("listitem")).toHaveText([/say Second\./, /say Third\./]);
  await page.locator("html[data-hydrated]").waitFor();
  await task.queue.getByRole("button", { name: /^Remove/ }).last().click();
  await expect(task.queue.getByRole("listitem")).toHaveCount(1);
  await expect(task.composer).toHaveValue(THIRD);
  await task.stop.click();
  await expect(task.queue).toContainText("Not sent");
  await task.queue.getByRole("button", { name: "Send now" }).click();
  await expect(task.log.getByText("Second.", { exact: true })).toBeVisible();
  await expect(task.queue).toHaveCount(0);
});

test("[S-051] a long history comes in pages, and the document stays small", async ({ page }) => {
  test.setTimeout(90_000);
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const rows = Array.from({ length: 1200 }, (_, n) => `run step-${n} => 0`).join("\n");
  await board.create({ prompt: `${rows}\nsay All done.`, folder: folder(), command: command() });
  await expect(task.log.getByText("All done.", { exact: true })).toBeVisible({ timeout: 60_000 });
  const shown = () => task.log.locator(".shell").count();
  await expect.poll(shown).toBeLessThan(700);
  await page.reload();
  await page.locator("html[data-hydrated]").waitFor();
  expect(await shown()).toBeLessThanOrEqual(200);
  const older = task.log.getByRole("button", { name: "Load older" });
  for (let at = 0; at < 6 && (await older.count()) > 0; at += 1) {
    const before = await task.log.evaluate((log) => log.scrollHeight);
    await older.click();
    await expect.poll(() => task.log.evaluate((log) => log.scrollHeight)).toBeGreaterThan(before);
  }
  await expect(older).toHaveCount(0);
  await task.log.evaluate((log) => {
    log.scrollTop = -log.scrollHeight;
  });
  await expect(task.shell("step-0").root.first()).toBeVisible();
  await expect.poll(shown).toBeLessThan(700);
  await task.log.evaluate((log) => {
    log.scrollTop = 0;
  });
  await expect(task.log.getByText("All done.", { exact: true })).toBeVisible();
});

test("[K-071] the keyboard alone reaches the field, the list of keys and the board", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say Hello.", folder: folder(), command: command() });
  await expect(task.log.getByText("Hello.", { exact: true })).toBeVisible();
  await page.locator("body").press("/");
  await expect(task.composer).toBeFocused();
  await page.keyboard.type("a/b?");
  await expect(task.composer).toHaveValue("a/b?");
  await task.composer.blur();
  await page.keyboard.press("?");
  const keys = page.getByRole("dialog", { name: "Keys" });
  await expect(keys).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(keys).toBeHidden();
  await page.keyboard.press("b");
  await page.waitForURL((url) => url.pathname === "/");
});

test("[K-044] a request for leave is answered after a reload, is on the board, and counts in the tab's title", async ({
  page,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "ask git push --mirror", folder: folder(), command: command() });
  await expect(task.ask).toContainText("git push --mirror");
  await page.reload();
  await expect(task.ask).toContainText("git push --mirror");
  await expect(page).toHaveTitle(/^\(\d+\) /);
  await page.getByRole("link", { name: "Back to the board" }).click();
  const card = board.card("git push --mirror");
  await expect(card.getByRole("button", { name: /Allow/ }).first()).toBeVisible();
  await card.getByRole("button", { name: /Allow/ }).first().click();
  await expect(card.getByRole("button", { name: /Allow/ })).toHaveCount(0);
});

test("[K-042] [K-043] an agent's mode is chosen in the page, and its commands are offered while one is written", async ({
  page,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const commands = {
    sessionUpdate: "available_commands_update",
    availableCommands: [
      { name: "plan", description: "Plans", input: { hint: "what" } },
      { name: "status", description: "Says how it stands" },
    ],
  };
  const prompt = `update ${JSON.stringify(commands)}\nsay Ready.`;
  await board.create({ prompt, folder: folder(), command: command() });
  await expect(task.log.getByText("Ready.", { exact: true })).toBeVisible();
  const mode = page.getByRole("combobox", { name: "Mode" });
  const other = await mode.locator("option:not(:checked)").first().innerText();
  await mode.selectOption({ label: other });
  await expect(mode).toBeEnabled();
  await expect(mode.locator("option:checked")).toHaveText(other);
  await task.composer.click();
  await page.keyboard.type("/");
  const list = page.getByRole("listbox", { name: "Suggestions" });
  await expect(list.getByRole("option")).toHaveCount(2);
  await page.keyboard.press("ArrowDown");
  await expect(list.getByRole("option", { name: /status/ })).toHaveAttribute("aria-selected", "true");
  await page.keyboard.press("Enter");
  await expect(task.composer).toHaveValue("/status ");
  await expect(list).toHaveCount(0);
  await expect(task.composer).toBeFocused();
});

test("[K-040] [K-041] what the agent thought is folded, and its plan stands open", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = "think I weigh *two* ways.\nplan Look around; Mend it\nsay Done.";
  await board.create({ prompt, folder: folder(), command: command() });
  await expect(task.log.getByText("Done.", { exact: true })).toBeVisible();
  const thought = task.log.locator(".fold__body").getByText("two");
  await expect(thought).toBeHidden();
  await task.log.getByText(/^Thought/).click();
  await expect(thought).toBeVisible();
  await expect(thought).toHaveJSProperty("tagName", "EM");
  const plan = task.log.getByRole("region", { name: "Plan" });
  await expect(plan.getByRole("listitem")).toHaveText([/Look around/, /Mend it/]);
  await expect(plan).toContainText("0 of 2");
});
