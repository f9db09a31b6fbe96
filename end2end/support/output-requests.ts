// Counts the requests for shell output, which is what a collapsed disclosure must not send.

import type { Page } from "@playwright/test";

export class OutputRequests {
  count = 0;

  constructor(page: Page) {
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.endsWith("/shell-output")) {
        this.count += 1;
      }
    });
  }
}
