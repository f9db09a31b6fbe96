// What the chat page costs, on the release server. `cargo xtask bench page` runs it and judges.

import { defineConfig } from "@playwright/test";

import base from "./playwright.config.ts";

export default defineConfig({
  ...base,
  testDir: "bench",
  timeout: 300_000,
  // Playwright's own recording would be measured with the page.
  use: { ...base.use, screenshot: "off", trace: "off" },
  projects: [{ name: "desktop", use: { viewport: { width: 1280, height: 800 } } }],
});
