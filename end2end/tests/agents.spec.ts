// The page of agents: found, installed, tried, and set up in profiles.

import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { AxeBuilder } from "@axe-core/playwright";
import type { Locator, Page } from "@playwright/test";

import { BoardPage } from "../pages/board.page.ts";
import { TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { command, folder } from "../support/project.ts";
import type { Server } from "../support/server.ts";

/** Puts a program in front of all others of its name. */
function program(server: Server, name: string, script: string): void {
  mkdirSync(server.programs, { recursive: true });
  const path = join(server.programs, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

const row = (page: Page, name: string): Locator => page.getByRole("article", { name, exact: true });

async function open(page: Page): Promise<void> {
  await page.goto("/agents");
  await page.locator("html[data-hydrated]").waitFor();
  await page.getByRole("button", { name: "Look again" }).click();
  await expect(page.getByText("Looked on this machine")).toBeVisible({ timeout: 25_000 });
}

async function write(page: Page, profile: { name: string; command: string; env?: string }): Promise<Locator> {
  await page.getByRole("button", { name: "Your own command" }).click();
  const dialog = page.getByRole("dialog", { name: "New profile" });
  await dialog.getByLabel("Name", { exact: true }).fill(profile.name);
  await dialog.getByLabel("ACP command").fill(profile.command);
  await dialog.getByLabel("Environment").fill(profile.env ?? "");
  await dialog.getByRole("button", { name: "Save" }).click();
  return dialog;
}

test.afterEach(({ server }) => rmSync(server.programs, { recursive: true, force: true }));

test("[K-030] [P-002] an agent is installed from the page, which shows what the installer prints", async ({
  page,
  server,
}) => {
  test.setTimeout(60_000);
  program(server, "node", "echo v22.20.0");
  const installs = [
    'echo "installing $*"',
    "sleep 1",
    "echo added 214 packages",
    `printf '#!/bin/sh\\necho 1.6.0\\n' > ${server.programs}/pi && chmod +x ${server.programs}/pi`,
  ];
  program(server, "npm", installs.join("\n"));
  await open(page);
  const pi = row(page, "Pi");
  await expect(pi).toContainText("Not installed");
  await pi.getByRole("button", { name: "Install", exact: true }).click();
  const log = pi.getByRole("log", { name: "Installation of Pi" });
  await expect(log).toContainText("installing install -g --ignore-scripts @earendil-works/pi-coding-agent");
  await expect(pi.locator(".signal")).toHaveText("Ready");
  await expect(pi.getByRole("heading")).toContainText("1.6.0");
  await expect(log).toHaveCount(0);
  await expect(page.getByRole("region", { name: "Ready" })).toContainText("npx -y pi-acp");
});

test("[K-030] an installation can be cancelled, and one that failed says how", async ({ page, server }) => {
  test.setTimeout(60_000);
  program(server, "node", "echo v22.20.0");
  program(server, "npm", "echo begun; sleep 600");
  await open(page);
  const pi = row(page, "Pi");
  await pi.getByRole("button", { name: "Install", exact: true }).click();
  await expect(pi.getByRole("log")).toContainText("begun");
  await pi.getByRole("button", { name: "Cancel" }).click();
  await expect(pi.locator(".signal")).toHaveText("Not installed");

  program(server, "npm", "echo npm error EACCES >&2; exit 243");
  await pi.getByRole("button", { name: "Install", exact: true }).click();
  await expect(pi.locator(".signal")).toHaveText("Installation failed");
  await expect(pi.getByRole("log")).toContainText("npm error EACCES");
});

test("[P-002] a Node that is too old for Pi is said before anything is installed", async ({ page, server }) => {
  test.setTimeout(60_000);
  program(server, "node", "echo v20.20.2");
  await open(page);
  const pi = row(page, "Pi");
  await expect(page.getByRole("region", { name: "Needs you" })).toContainText("Pi");
  await expect(pi).toContainText("It needs Node 22.19 or newer; 20.20.2 is installed.");
  await expect(pi.getByRole("button", { name: "Install", exact: true })).toHaveCount(0);
});

test("[K-003] a profile with a secret variable is written, used, changed, copied and deleted", async ({ page }) => {
  test.setTimeout(60_000);
  await page.goto("/agents");
  await page.locator("html[data-hydrated]").waitFor();
  const dialog = await write(page, { name: "Mine", command: "'unclosed", env: "WORD=swordfish" });
  await expect(dialog.getByText("A quote is not closed.")).toBeVisible();
  await dialog.getByLabel("ACP command").fill(command());
  await dialog.getByRole("button", { name: "Save" }).click();
  const mine = page.getByRole("article", { name: "Profile Mine", exact: true });
  await expect(mine).toContainText("WORD");
  const boot = await (await page.request.get("/api/v1/boot?path=/agents")).text();
  expect(boot).toContain("Mine");
  expect(boot + (await page.content())).not.toContain("swordfish");

  await mine.getByRole("button", { name: "Edit Mine" }).click();
  const edit = page.getByRole("dialog", { name: "Profile" });
  await expect(edit.getByLabel("Environment")).toHaveValue("WORD");
  await edit.getByLabel("Environment").fill("WORD\nOTHER=1");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(mine).toContainText("OTHER");

  await mine.getByRole("button", { name: "Duplicate Mine" }).click();
  const copy = page.getByRole("dialog", { name: "New profile" });
  await expect(copy.getByLabel("Environment")).toHaveValue("");
  await copy.getByRole("button", { name: "Save" }).click();
  const other = page.getByRole("article", { name: "Profile Mine copy" });
  await other.getByRole("button", { name: "Delete" }).click();
  await expect(other).toHaveCount(0);

  await page.goto("/");
  const board = new BoardPage(page);
  await board.openDialog();
  await board.dialog.getByLabel("Prompt").fill("env WORD");
  await board.dialog.getByLabel("Folder").fill(folder());
  await board.dialog.getByRole("radio", { name: /^Mine/ }).check();
  await board.submit();
  await expect(new TaskPage(page).log.getByText("WORD=swordfish")).toBeVisible();
});

test("[K-030] a profile's agent is tried, and says what it answered or why it did not", async ({ page }) => {
  test.setTimeout(60_000);
  await page.goto("/agents");
  await page.locator("html[data-hydrated]").waitFor();
  await write(page, { name: "Answers", command: command() });
  const answers = page.getByRole("article", { name: "Profile Answers", exact: true });
  await answers.getByRole("button", { name: "Try" }).click();
  await expect(answers).toContainText(/Answered \u201cFake reply to: .*\u201d within \d+ s\. Version 1\.2\.3\./);
  await write(page, { name: "Missing", command: "no-such-agent --acp" });
  const missing = page.getByRole("article", { name: "Profile Missing", exact: true });
  await missing.getByRole("button", { name: "Try" }).click();
  await expect(missing).toContainText('cannot find the program "no-such-agent"');
});

test("[K-072] [K-007] the page of agents fits a phone, and axe finds nothing serious on it", async ({ page }) => {
  test.setTimeout(60_000);
  await open(page);
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await new AxeBuilder({ page }).analyze();
    const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
    expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  }
});

test("[D-016] [K-030] an agent that fails is said to have failed, with what it wrote last and nothing secret", async ({
  page,
}) => {
  test.setTimeout(60_000);
  await page.goto("/agents");
  await page.locator("html[data-hydrated]").waitFor();
  const script = "echo it reads its key >&2; echo the key sk-abc123def is wrong >&2; exit 3";
  await write(page, { name: "Ends", command: `sh -c '${script}'` });
  const ends = page.getByRole("article", { name: "Profile Ends", exact: true });
  await ends.getByRole("button", { name: "Try" }).click();
  await expect(ends.getByRole("status")).toContainText("Ends ended before it was ready (exit code 3).");
  await expect(ends.getByRole("status")).toContainText("it reads its key\nthe key [removed] is wrong");
});
