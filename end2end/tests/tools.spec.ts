// Tool calls that are no shell commands, and what is written and not sent: seen, opened, kept.

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";

/** A picture of one point. */
const POINT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function call(fields: object): string {
  const id = `t${Math.random()}`;
  return `update ${JSON.stringify({ sessionUpdate: "tool_call", toolCallId: id, status: "completed", ...fields })}`;
}

const text = (words: string) => ({ type: "content", content: { type: "text", text: words } });

test("[K-004] an edit says how many lines came and went, and its diff is fetched when it is opened", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const asked: string[] = [];
  page.on("request", (request) => request.url().endsWith("/content") && asked.push(request.url()));
  const oldText = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join("");
  const newText = oldText.replace("line 20\n", "line twenty\nline <b>more</b>\n");
  const edit = call({
    title: "Edit queue.rs",
    kind: "edit",
    locations: [{ path: "src/queue.rs" }],
    content: [{ type: "diff", path: "src/queue.rs", oldText, newText }],
  });
  await board.create({ prompt: edit, folder: folder(), command: command() });
  const toggle = task.log.getByRole("button", { name: "Changes of src/queue.rs: 2 added, 1 removed" });
  await expect(toggle).toHaveText(/\+2\s*\u22121/);
  expect(await task.log.locator(".work").innerHTML()).not.toContain("line twenty");
  expect(asked).toHaveLength(0);

  await toggle.click();
  await expect(toggle).toHaveAttribute("aria-expanded", "true");
  const diff = task.log.getByRole("group", { name: "Changes in src/queue.rs" });
  await expect(diff.locator("ins")).toHaveText("+line twenty\n+line <b>more</b>");
  await expect(diff.locator("del")).toHaveText("\u2212line 20");
  await expect(diff.locator("b")).toHaveCount(0);
  await expect(diff).not.toContainText("line 10");
  expect(asked).toHaveLength(1);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);

  await toggle.click();
  await expect(diff).toHaveCount(0);
  await page.reload();
  await expect(toggle).toBeVisible();
  expect(asked).toHaveLength(1);
});

test("[K-004] what a tool read, a picture and the input of an unknown tool can be opened", async ({ page }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = [
    call({ title: "Read notes.md", kind: "read", locations: [{ path: "notes.md" }], content: [text("What it says\n")] }),
    call({
      title: "Read point.png",
      kind: "read",
      locations: [{ path: "point.png" }],
      content: [{ type: "content", content: { type: "image", mimeType: "image/png", data: POINT } }],
    }),
    call({ title: "weather.forecast", kind: "other", rawInput: { city: "Bern" }, rawOutput: { degrees: 4 } }),
    call({ title: "Search for nothing", kind: "search" }),
  ].join("\n");
  await board.create({ prompt, folder: folder(), command: command() });
  await task.log.getByRole("button", { name: "Read notes.md: 13 B" }).click();
  await expect(task.log.getByRole("region", { name: "notes.md" })).toContainText("What it says");

  await task.log.getByRole("button", { name: "Read point.png: 1 picture" }).click();
  const picture = task.log.getByRole("img", { name: "Picture from the agent" });
  await expect.poll(() => picture.evaluate((image: HTMLImageElement) => image.naturalWidth)).toBe(1);

  await task.log.getByRole("button", { name: "Tool weather.forecast" }).click();
  const region = task.log.getByRole("region", { name: "weather.forecast" });
  await expect(region.getByRole("heading")).toHaveText(["Input", "Result"]);
  await expect(region).toContainText('"city": "Bern"');
  await expect(region).toContainText('"degrees": 4');
  await expect(task.log.locator(".tool", { hasText: "Search for nothing" }).getByRole("button")).toHaveCount(0);
});

test("content that cannot be read says so and can be tried again", async ({ page, expectConsole }) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const read = call({ title: "Read a", kind: "read", content: [text("inside")] });
  await board.create({ prompt: read, folder: folder(), command: command() });
  expectConsole(/503|Failed to load resource/);
  let fails = true;
  await page.route("**/content", (route) =>
    fails ? route.fulfill({ status: 503, json: { code: "INTERNAL_ERROR", message: "No." } }) : route.continue(),
  );
  await task.log.getByRole("button", { name: /^Read/ }).click();
  await expect(task.log.getByText("Content unavailable.")).toBeVisible();
  fails = false;
  await task.log.getByRole("button", { name: "Retry" }).click();
  await expect(task.log.getByRole("region", { name: "Read a" })).toContainText("inside");
  await expect(task.log.getByText("Content unavailable.")).toHaveCount(0);
});

test("[K-004] code is copied by its button, as it was written", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const prompt = "say Use this:\\n\\n```rust\\nlet x = 1;\\n\\nlet y = \"<b>\";\\n```\\n\\nand no more.";
  await board.create({ prompt, folder: folder(), command: command() });
  const copy = task.log.getByRole("button", { name: "Copy code" });
  await expect(copy).toHaveCount(1);
  await copy.click();
  await expect(task.log.getByRole("button", { name: "Copied" })).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('let x = 1;\n\nlet y = "<b>";');
});

test("what is written and not sent is on the server: after a reload, on another page, until it is sent", async ({
  page,
  context,
}) => {
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  await board.create({ prompt: "say Hello", folder: folder(), command: command() });
  await expect(task.log.getByText("Hello", { exact: true })).toBeVisible();
  await task.composer.fill("say half a thought");
  const other = await context.newPage();
  const there = new TaskPage(other);
  await expect
    .poll(async () => {
      await other.goto(page.url());
      await other.locator("html[data-hydrated]").waitFor();
      return there.composer.inputValue();
    })
    .toBe("say half a thought");

  await there.composer.fill("say a whole thought");
  await expect(task.composer).toHaveValue("say a whole thought");
  await page.reload();
  await expect(task.composer).toHaveValue("say a whole thought");

  await page.locator("html[data-hydrated]").waitFor();
  await task.send.click();
  await expect(task.log.getByText("a whole thought", { exact: true })).toBeVisible();
  await expect(task.composer).toHaveValue("");
  await expect(there.composer).toHaveValue("");
  await page.reload();
  await page.locator("html[data-hydrated]").waitFor();
  await expect(task.composer).toHaveValue("");
});

test("[K-044] what another task waits for is told in this one, and by the system while the page is hidden", async ({
  page,
}) => {
  await page.addInitScript(() => {
    const told: string[] = [];
    Object.assign(window, {
      told,
      Notification: class {
        static permission = "granted";
        constructor(title: string, options: { body: string }) {
          told.push(`${title} ${options.body}`);
        }
      },
    });
  });
  await page.reload();
  const board = new BoardPage(page);
  const task = new TaskPage(page);
  const news = page.getByRole("status", { name: "News" });
  await board.create({ prompt: "say First", folder: folder(), command: command() });
  await expect(task.log.getByText("First", { exact: true })).toBeVisible();
  const asking = page.url();
  await page.getByRole("link", { name: "Back to the board" }).click();
  await board.create({ prompt: "say Here", folder: folder(), command: command() });
  await expect(task.log.getByText("Here", { exact: true })).toBeVisible();
  await page.evaluate(async (address) => {
    const boot = await (await fetch(`/api/v1/boot?path=${new URL(address).pathname}`)).json();
    const { id, task_id } = boot.initialState.session;
    const body = JSON.stringify({ task_id, content: "ask rm -rf build" });
    const headers = { "content-type": "application/json" };
    await fetch(`/api/v1/task-sessions/${id}/messages`, { method: "POST", headers, body });
  }, asking);
  await expect(news.getByRole("link")).toHaveText(/waits for your answer$/);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  await news.getByRole("link").click();
  await expect(page).toHaveURL(asking);
  await expect(news.getByRole("link")).toHaveCount(0);

  await page.evaluate(() => Object.defineProperty(document, "hidden", { value: true }));
  await task.ask.getByRole("button").first().click();
  const told = () => page.evaluate(() => (window as unknown as { told: string[] }).told);
  await expect.poll(told).toEqual([expect.stringMatching(/has answered$/)]);
  await expect(news.getByRole("link")).toHaveCount(0);
});
