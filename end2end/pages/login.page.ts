// The door: how a browser is let in.

import type { Locator, Page } from "@playwright/test";

export class LoginPage {
  readonly page: Page;
  readonly heading: Locator;
  /** Says why a link did not open the door. */
  readonly notice: Locator;

  constructor(page: Page) {
    this.page = page;
    this.heading = page.getByRole("heading", { level: 1, name: "Open Kandev in this browser" });
    this.notice = page.getByRole("status").or(page.getByRole("alert"));
  }

  /** Opens a link as a click in a terminal does. */
  async open(link: string): Promise<void> {
    await this.page.goto(link);
  }
}
