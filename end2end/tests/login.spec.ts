// How a browser gets in, and how it does not.

import { BoardPage } from "../pages/board.page.ts";
import { LoginPage } from "../pages/login.page.ts";
import { expect, test } from "../support/fixtures.ts";

/** Backlog, In Progress, Review, Done. */
const DEFAULT_STEPS = 4;

test("[Q-002] a one-time link lets the browser in and lands on the board", async ({
  stranger,
  server,
}) => {
  const link = await server.link();
  await new LoginPage(stranger).open(link);

  await expect(stranger).toHaveURL(`${server.origin}/`);
  await expect(new BoardPage(stranger).columns).toHaveCount(DEFAULT_STEPS);
  const cookies = await stranger.context().cookies();
  const [cookie] = cookies.filter(({ name }) => name === `kandev_${new URL(server.origin).port}`);
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  expect(cookie?.value).not.toContain(new URL(link).hash.slice(1));
});

test("[Q-002] the link's secret stays neither in the address nor in the history", async ({
  stranger,
  server,
}) => {
  await new LoginPage(stranger).open(await server.link());
  await stranger.waitForURL(`${server.origin}/`);
  await stranger.goBack();
  expect(stranger.url()).not.toContain("#");
});

test("[Q-002] a browser without a session is sent to the door", async ({ stranger, server }) => {
  await stranger.goto(`${server.origin}/`);
  await expect(stranger).toHaveURL(`${server.origin}/login`);
  await expect(new LoginPage(stranger).heading).toBeVisible();
});

test("[Q-002] a link that was used says so and lets nobody in", async ({
  stranger,
  server,
  browser,
  expectConsole,
}) => {
  const link = await server.link();
  const other = await browser.newContext();
  const first = await other.newPage();
  await first.goto(link);
  await first.waitForURL(`${server.origin}/`);
  await other.close();

  expectConsole(/status of 401|response 401: POST .*\/api\/v1\/auth\/login/);
  const login = new LoginPage(stranger);
  await login.open(link);
  await expect(login.notice).toContainText("used already");
  await expect(stranger.getByText("kandev link", { exact: true })).toBeVisible();
  await stranger.goto(`${server.origin}/`);
  await expect(stranger).toHaveURL(`${server.origin}/login`);
});

test("[Q-002] the session outlives a restart of the server", async ({ page, server }) => {
  // An open board would rightly complain that its server is gone; this test is about the cookie.
  await page.goto("about:blank");
  await server.restart();
  await page.goto(server.origin);
  await expect(page).toHaveURL(`${server.origin}/`);
  await expect(new BoardPage(page).columns).toHaveCount(DEFAULT_STEPS);
});

test("[Q-002] a link pasted over the open login page is spent like any other", async ({ stranger, server }) => {
  await stranger.goto(`${server.origin}/login`);
  await stranger.locator("html[data-hydrated]").waitFor();
  const fragment = new URL(await server.link()).hash;
  await stranger.evaluate((hash) => {
    location.hash = hash;
  }, fragment);
  await stranger.waitForURL(`${server.origin}/`);
});

test("[Q-002] a page whose browser was signed out goes to the door", async ({ page, server, expectConsole }) => {
  expectConsole(/401|WebSocket/);
  await page.locator("html[data-hydrated]").waitFor();
  const headers = { origin: server.origin };
  await page.request.post(`${server.origin}/api/v1/auth/logout`, { headers });
  await expect(page).toHaveURL(`${server.origin}/login`);
});
