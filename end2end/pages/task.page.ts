// A task: its chat, its commands, the composer.

import type { Locator, Page } from "@playwright/test";

export class TaskPage {
  readonly page: Page;
  readonly log: Locator;
  readonly composer: Locator;
  readonly send: Locator;
  readonly stop: Locator;
  readonly ask: Locator;
  /** The messages that wait. */
  readonly queue: Locator;

  constructor(page: Page) {
    this.page = page;
    this.log = page.getByRole("log");
    this.composer = page.getByRole("textbox", { name: "Message to the agent" });
    this.send = page.getByRole("button", { name: "Send", exact: true });
    this.stop = page.getByRole("button", { name: "Stop" });
    this.ask = page.locator(".ask[data-state=waiting]");
    this.queue = page.getByRole("region", { name: "Messages that wait" });
  }

  /** The row of a command. */
  shell(command: string): ShellRow {
    return new ShellRow(this.page.locator(".shell", { hasText: command }));
  }

  async prompt(text: string): Promise<void> {
    await this.page.locator("html[data-hydrated]").waitFor();
    await this.composer.fill(text);
    await this.send.click();
  }
}

/** The row of one shell command. */
export class ShellRow {
  readonly root: Locator;
  readonly command: Locator;
  readonly toggle: Locator;
  readonly region: Locator;
  readonly body: Locator;
  readonly exit: Locator;
  readonly survivor: Locator;

  constructor(root: Locator) {
    this.root = root;
    this.command = root.locator(".shell__command");
    this.toggle = root.locator(".shell__toggle");
    this.region = root.getByRole("region");
    this.body = root.locator(".shell__body");
    this.exit = root.getByText(/^Exit code/);
    this.survivor = root.locator(".shell__survivor");
  }

  /** How the row's mark is called: "Command failed", … */
  mark(name: string): Locator {
    return this.root.getByRole("img", { name, exact: true });
  }
}
