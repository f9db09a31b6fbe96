// What the chat page costs: its first answer, an output that is opened, an agent in full flood.

import http from "node:http";

import { TaskPage } from "../pages/task.page.ts";
import { FRAMES, KINDS, Told, writeScript } from "./flood.ts";
import { type Scene, expect, given, median, note, open, scene, test } from "./scene.ts";
import { type Task, found, longest, tasksDuring } from "./tasks.ts";

/** Rounds of requests, one of each kind in turn. */
const REQUESTS = 50;
const OPENINGS = 7;
const STREAMS = 5;
/** Opens the output of the command that runs. */
const RUNNING_TOGGLE = ".shell[data-state=running] .shell__toggle";
const OPEN_TOGGLE = ".shell__toggle[aria-expanded=true]";
/** A task over this is what a person feels, in milliseconds. */
const LONG_TASK_MS = 50;

interface Got {
  bytes: number;
  ms: number;
}

/** What the page had to do while an agent said a lot. */
interface Flood extends Task {
  n_long: number;
  /** Frames of the agent in a second. */
  rate: number;
  /** Changes of messages that reached the page. */
  updates: number;
}

/** Asks over one connection, and takes the whole answer. */
function get(agent: http.Agent, url: string, cookie: string): Promise<Got> {
  return new Promise((resolve, reject) => {
    const begin = performance.now();
    const request = http.get(url, { agent, headers: { cookie } }, (response) => {
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      response.on("end", () => {
        if (response.statusCode === 200) {
          resolve({ bytes, ms: performance.now() - begin });
        } else {
          reject(new Error(`${url} was answered with ${response.statusCode}`));
        }
      });
    });
    request.on("error", reject);
  });
}

test("boot", async ({ page, server }) => {
  const cookies = await page.context().cookies();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const paths: Record<string, (scene: Scene) => string> = {
    page: ({ taskId }) => `/tasks/${taskId}`,
    state: ({ taskId }) => `/api/v1/boot?path=/tasks/${taskId}`,
    messages: ({ sessionId }) => `/api/v1/task-sessions/${sessionId}/messages`,
  };
  const scenes = {
    empty: await scene(page, "empty"),
    full: await scene(page, "full"),
    long: await scene(page, "long"),
  };
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (const [what, path] of Object.entries(paths)) {
    const rounds: Record<keyof typeof scenes, Got>[] = [];
    for (let round = 0; round <= REQUESTS; round += 1) {
      const ask = (name: keyof typeof scenes) => get(agent, server.origin + path(scenes[name]), cookie);
      const answers = { empty: await ask("empty"), full: await ask("full"), long: await ask("long") };
      // The first round is for the caches of the server.
      if (round > 0) {
        rounds.push(answers);
      }
    }
    for (const unit of ["bytes", "ms"] as const) {
      note(`${what}.${unit}`, median(rounds.map(({ empty }) => empty[unit])));
      // Of one round each: what slows the machine down slows both.
      for (const name of ["full", "long"] as const) {
        note(`${what}.${name}.${unit}`, median(rounds.map((round) => round[name][unit] / round.empty[unit])));
      }
    }
  }
  agent.destroy();
});

for (const [body, command] of [
  ["lines", "--run-number 999"],
  ["one-line", "--run-number 1000"],
] as const) {
  test(`opening: ${body}`, async ({ page }) => {
    const bodies = await scene(page, "bodies");
    const openings: Task[] = [];
    for (let opening = 0; opening < OPENINGS; opening += 1) {
      await open(page, bodies);
      const row = new TaskPage(page).shell(command);
      await row.root.scrollIntoViewIfNeeded();
      const box = await row.toggle.boundingBox();
      if (box === null) {
        throw new Error("the row cannot be opened");
      }
      const tasks = await tasksDuring(page, async () => {
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await found(page, ".shell__body");
      });
      openings.push(longest(tasks));
    }
    console.log(body, openings);
    for (const unit of ["ms", "cpuMs"] as const) {
      note(`opening.${body}.${unit}`, median(openings.map((opening) => opening[unit])));
    }
  });
}

test("streaming", async ({ page, server }) => {
  writeScript(given("BENCH_SCRIPT"), STREAMS);
  const stream = await scene(page, "stream");
  const told = new Told(page);
  await open(page, stream);
  const floods = new Map(KINDS.map((kind) => [kind, [] as Flood[]]));
  for (let run = 0; run < STREAMS; run += 1) {
    for (const kind of KINDS) {
      const before = told.updates;
      let seconds = 0;
      const tasks = await tasksDuring(page, async () => {
        const sent = await page.request.post(`/api/v1/task-sessions/${stream.sessionId}/messages`, {
          headers: { origin: server.origin },
          data: { task_id: stream.taskId, content: `Flood ${kind}.` },
        });
        expect(sent.status()).toBe(201);
        if (kind === "open") {
          await found(page, RUNNING_TOGGLE, true);
        }
        seconds = await told.turnSeconds();
      });
      if (kind === "open") {
        await expect(page.locator(".shell__body")).toContainText(`${FRAMES - 1} merger`);
        await page.locator(OPEN_TOGGLE).click();
      }
      floods.get(kind)?.push({
        ...longest(tasks),
        n_long: tasks.filter(({ ms }) => ms > LONG_TASK_MS).length,
        rate: FRAMES / seconds,
        updates: told.updates - before,
      });
    }
  }
  for (const [kind, runs] of floods) {
    console.log(kind, runs);
    for (const unit of ["ms", "cpuMs", "n_long", "rate", "updates"] as const) {
      note(`flood.${kind}.${unit}`, median(runs.map((run) => run[unit])));
    }
  }
});
