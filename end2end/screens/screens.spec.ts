// Sets a scene that shows every state, and takes a picture of each page in light and dark.

import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Page } from "@playwright/test";

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { fakeAgent } from "../support/server.ts";

const PICTURES = join(import.meta.dirname, "../../docs/screens");
const SCRIPT = join(import.meta.dirname, "chat.script");

interface Scene {
  title: string;
  prompt: string;
  name: string;
  args?: string;
  start?: boolean;
}

const CHAT: Scene = {
  title: "Rebuild the segment merger so that it never blocks ingestion",
  prompt:
    "The merger pauses ingestion for up to five seconds. Rebuild it so that a merge never holds the ingestion lock for more than 50 ms, and prove it with a bench.",
  name: "Claude",
  args: `--script '${SCRIPT}' --version 0.101.0`,
  start: true,
};

const BOARD: Scene[] = [
  { title: "Describe retention rules for operators", prompt: "say x", name: "OpenCode" },
  { title: "Skip segments whose checksum fails", prompt: "say x", name: "Codex" },
  {
    title: "Follow mode loses the newest line after a reconnect",
    prompt: "start cargo nextest run -p tail\nhang",
    name: "Codex",
    start: true,
  },
  {
    title: "Compress cold segments with zstd dictionaries",
    prompt: "error 429 Too Many Requests: the usage limit is reached",
    name: "OpenCode",
    start: true,
  },
  CHAT,
  { title: "Limit failed logins for each address", prompt: "say Done.", name: "Claude", start: true },
  { title: "Health endpoint says which disk is full", prompt: "say Done.", name: "Codex", start: true },
];

async function create(page: Page, scene: Scene): Promise<string> {
  const folder = join(tmpdir(), "pelorus");
  await mkdir(folder, { recursive: true });
  const origin = new URL(page.url()).origin;
  const command_line = `'${fakeAgent()}' acp ${scene.args ?? ""}`;
  const response = await page.request.post(`${origin}/api/v1/tasks`, {
    headers: { origin },
    data: {
      title: scene.title,
      prompt: scene.prompt,
      folder,
      start: scene.start ?? false,
      agent: { custom: { name: scene.name, command_line } },
    },
  });
  expect(response.status()).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

/** The same page in both themes. */
async function picture(page: Page, name: string): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    await page.screenshot({ path: join(PICTURES, `${name}-${scheme}.png`) });
  }
}

test("every page, in light and dark", async ({ page, server }, testInfo) => {
  const on = (name: string) => `${name}-${testInfo.project.name}`;
  const board = new BoardPage(page);
  await picture(page, on("board-empty"));
  let chat = "";
  for (const scene of BOARD) {
    const id = await create(page, scene);
    chat = scene === CHAT ? id : chat;
  }
  await board.ready();
  await expect(page.locator(".card[data-state=waiting]")).toHaveCount(1);
  await expect(page.locator(".card[data-state=failed]")).toHaveCount(1);
  for (const [title, step] of [
    ["Limit failed logins", "Review"],
    ["Health endpoint", "Done"],
  ] as const) {
    const card = board.card(title);
    await expect(card).not.toHaveAttribute("data-state", "running");
    await card.locator(".card__menu summary").evaluate((summary: HTMLElement) => summary.click());
    await card.getByRole("button", { name: step }).evaluate((button: HTMLElement) => button.click());
    await expect(board.column(step).locator(".card")).toHaveCount(1);
  }
  if (testInfo.project.name === "phone") {
    await page.getByRole("navigation", { name: "Steps" }).getByRole("button", { name: /In Progress/ }).click();
    await expect(board.card(CHAT.title)).toBeInViewport();
  }
  await picture(page, on("board"));

  await board.openDialog();
  await board.dialog.getByLabel("Prompt").fill("Follow mode should keep its place after a reconnect.");
  await picture(page, on("dialog"));

  await page.goto(`${server.origin}/tasks/${chat}`);
  await page.locator("html[data-hydrated]").waitFor();
  const task = new TaskPage(page);
  await expect(task.ask).toBeVisible();
  await picture(page, on("task"));
  const row = task.shell("cargo nextest run -p merger");
  await row.toggle.click();
  await expect(row.body).toContainText("never_waits_for_merge");
  await row.root.scrollIntoViewIfNeeded();
  await picture(page, on("task-output"));

  await page.context().clearCookies();
  await page.goto(`${server.origin}/login`);
  await page.locator("html[data-hydrated]").waitFor();
  await picture(page, on("login"));
});
