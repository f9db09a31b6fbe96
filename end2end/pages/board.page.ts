// The board: steps as columns, tasks as cards, and the dialog in which a task is written.

import type { Locator, Page } from "@playwright/test";

export interface NewTask {
  prompt: string;
  folder: string;
  /** A custom ACP command. */
  command: string;
  start?: boolean;
}

export class BoardPage {
  readonly page: Page;
  /** One for each step; a phone shows one at a time. */
  readonly columns: Locator;
  readonly dialog: Locator;

  constructor(page: Page) {
    this.page = page;
    this.columns = page.locator(".column");
    this.dialog = page.getByRole("dialog", { name: "New task" });
  }

  /** The page answers to clicks. */
  async ready(): Promise<void> {
    await this.page.locator("html[data-hydrated]").waitFor();
  }

  column(name: string): Locator {
    return this.page.locator(".column", { has: this.page.getByRole("heading", { level: 2, name }) });
  }

  card(title: string): Locator {
    return this.page.locator(".card", { hasText: title });
  }

  async openDialog(): Promise<void> {
    await this.ready();
    await this.page.locator(".topbar").getByRole("button", { name: "New task" }).click();
    await this.dialog.waitFor();
  }

  /** Fills the dialog without sending it. */
  async write(task: NewTask): Promise<void> {
    await this.dialog.getByLabel("Prompt").fill(task.prompt);
    await this.dialog.getByLabel("Folder").fill(task.folder);
    await this.dialog.getByLabel("Custom ACP command").check();
    await this.dialog.getByLabel("Command", { exact: true }).fill(task.command);
    await this.dialog.getByRole("switch", { name: "Start the agent now" }).setChecked(task.start ?? true);
  }

  async submit(): Promise<void> {
    await this.dialog.getByRole("button", { name: /^Create/ }).click();
  }

  /** Creates a task and waits until its page is there. */
  async create(task: NewTask): Promise<void> {
    await this.openDialog();
    await this.write(task);
    await this.submit();
    await this.page.waitForURL(/\/tasks\//);
  }
}
