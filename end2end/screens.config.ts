// The pictures in docs/screens: every page, desktop and phone, light and dark. `cargo xtask screens`.

import { defineConfig } from "@playwright/test";

import base from "./playwright.config.ts";

export default defineConfig({
  ...base,
  testDir: "screens",
  timeout: 120_000,
  projects: [
    { name: "desktop", use: { viewport: { width: 1280, height: 800 } } },
    {
      name: "phone",
      use: { viewport: { width: 390, height: 780 }, hasTouch: true, isMobile: true },
    },
  ],
});
