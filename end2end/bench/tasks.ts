// The tasks of a page's main thread, from Chromium's own trace: also those that are too short for
// the page to hear of.

import type { Page } from "@playwright/test";

const CATEGORIES = ["toplevel", "blink.user_timing"];
const TASK = "ThreadControllerImpl::RunTask";
const BEGIN = "bench-begin";
const END = "bench-end";
/** What follows from the last change is measured with it. */
const SETTLING_FRAMES = 30;

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds. */
  ts: number;
  dur?: number;
  /** Of the thread's own time. */
  tdur?: number;
}

/** A task, in milliseconds. */
export interface Task {
  /** By the clock. */
  ms: number;
  /** Without the time in which others had the processor. */
  cpuMs: number;
}

/** The tasks that began while `act` was under way. */
export async function tasksDuring(page: Page, act: () => Promise<void>): Promise<Task[]> {
  const browser = page.context().browser();
  if (browser === null) {
    throw new Error("the page has no browser");
  }
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.evaluate((name) => performance.mark(name), BEGIN);
  await act();
  await frames(page, SETTLING_FRAMES);
  await page.evaluate((name) => performance.mark(name), END);
  const trace = JSON.parse((await browser.stopTracing()).toString()) as {
    traceEvents: TraceEvent[];
  };
  return tasks(trace.traceEvents);
}

/** Waits for frames to be made. */
export async function frames(page: Page, count: number): Promise<void> {
  await page.evaluate(async (count) => {
    for (let frame = 0; frame < count; frame += 1) {
      await new Promise(requestAnimationFrame);
    }
  }, count);
}

/** Waits for an element, and clicks it if asked to. A locator's search would be a long task of its own. */
export async function found(page: Page, selector: string, click = false): Promise<void> {
  await page.evaluate(
    async ({ selector, click }) => {
      let element = document.querySelector<HTMLElement>(selector);
      while (element === null) {
        await new Promise(requestAnimationFrame);
        element = document.querySelector<HTMLElement>(selector);
      }
      if (click) {
        element.click();
      }
    },
    { selector, click },
  );
}

/** The longest task by the clock, and the longest by the thread's own time. */
export function longest(tasks: Task[]): Task {
  return {
    ms: Math.max(...tasks.map(({ ms }) => ms)),
    cpuMs: Math.max(...tasks.map(({ cpuMs }) => cpuMs)),
  };
}

function tasks(events: TraceEvent[]): Task[] {
  const begin = events.find((event) => event.name === BEGIN);
  const end = events.find((event) => event.name === END);
  if (begin === undefined || end === undefined) {
    throw new Error("the trace does not have the page's marks");
  }
  const tasks = events
    .filter(({ name, ph, pid, tid }) => name === TASK && ph === "X" && pid === begin.pid && tid === begin.tid)
    .filter(({ ts }) => ts > begin.ts && ts < end.ts)
    .map(({ dur, tdur }) => ({ ms: (dur ?? 0) / 1000, cpuMs: (tdur ?? 0) / 1000 }));
  if (tasks.length === 0) {
    throw new Error("the trace has no tasks of the page's main thread");
  }
  return tasks;
}
