// Everything that goes wrong in a browser without a test looking at it.

import { type BrowserContext, expect } from "@playwright/test";

/** Watches every page of a context. What nobody announced fails the test. */
export class Complaints {
  private readonly heard: string[] = [];
  private readonly announced: RegExp[] = [];
  private readonly origin: string;

  constructor(context: BrowserContext, origin: string) {
    this.origin = origin;
    context.on("console", (message) => {
      if (message.type() === "error") {
        this.hear(`console error: ${message.text()} (${message.location().url})`);
      }
    });
    context.on("weberror", (error) => this.hear(`page error: ${error.error().stack}`));
    context.on("requestfailed", (request) => {
      const reason = request.failure()?.errorText ?? "unknown";
      // The page itself gave these up: it went elsewhere, or needed the answer no more.
      if (reason !== "net::ERR_ABORTED" && this.isOurs(request.url())) {
        this.hear(`request failed: ${request.method()} ${request.url()} ${reason}`);
      }
    });
    context.on("response", (response) => {
      if (response.status() >= 400 && this.isOurs(response.url())) {
        this.hear(`response ${response.status()}: ${response.request().method()} ${response.url()}`);
      }
    });
  }

  /** From now on and until the end of the test, complaints like this are part of the test. */
  expect(pattern: RegExp): void {
    this.announced.push(pattern);
  }

  /** Fails when something was heard that nobody announced. */
  verify(): void {
    const isAnnounced = (text: string) => this.announced.some((pattern) => pattern.test(text));
    const unexpected = this.heard.filter((text) => !isAnnounced(text));
    expect(unexpected, "the browser complained").toEqual([]);
  }

  private hear(text: string): void {
    this.heard.push(text);
  }

  private isOurs(url: string): boolean {
    return new URL(url).origin === this.origin;
  }
}
