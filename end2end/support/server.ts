// A real server on a data directory of its own.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const LINK = /http:\/\/\S+\/login#\S+/;
const START_MS = 15_000;
const STOP_MS = 5_000;
/** How much of the server's output is kept for a failure. */
const LOG_CHARS = 64 * 1024;

export class Server {
  /** `http://127.0.0.1:PORT`, the same after a restart. */
  readonly origin: string;
  /** The one-time link that the last start printed. */
  firstLink: string;
  readonly dataDir: string;
  /** A folder in which the server finds programs before all others; it need not be there. */
  get programs(): string {
    return programs(this.dataDir);
  }
  private process: Running;

  private constructor(dataDir: string, process: Running) {
    this.dataDir = dataDir;
    this.process = process;
    this.firstLink = process.link;
    this.origin = new URL(process.link).origin;
  }

  /** Starts a server on a port that is free and an empty data directory. */
  static async start(): Promise<Server> {
    const dataDir = await mkdtemp(join(tmpdir(), "kandev-e2e-"));
    try {
      return new Server(dataDir, await launch(dataDir, "0"));
    } catch (error) {
      await rm(dataDir, { recursive: true, force: true });
      throw error;
    }
  }

  /** The process id of the server that runs now. */
  get pid(): number {
    return this.process.pid;
  }

  /** What the running server wrote, its last part. */
  get log(): string {
    return this.process.log;
  }

  /** Another one-time link, as `kandev link` prints it. */
  async link(): Promise<string> {
    const args = ["link", "--data-dir", this.dataDir];
    const { stdout } = await promisify(execFile)(kandev(), args, { env: environment() });
    return found(stdout, `kandev link printed no link:\n${stdout}`);
  }

  /** Ends the server as a service manager does, and starts it again at the same address. */
  async restart(): Promise<void> {
    await this.process.terminate();
    await this.startAgain();
  }

  /** Ends the server as a power cut does. `startAgain` brings it back. */
  async kill9(): Promise<void> {
    await this.process.kill();
  }

  /** Starts the server at the same address after it ended. */
  async startAgain(): Promise<void> {
    this.process = await launch(this.dataDir, new URL(this.origin).port);
    this.firstLink = this.process.link;
  }

  /** Ends the server for good: within five seconds, or it is a failure. */
  async stop(): Promise<void> {
    try {
      await this.process.terminate();
    } finally {
      await rm(this.dataDir, { recursive: true, force: true });
    }
  }
}

/** A server process that accepts connections. */
class Running {
  readonly link: string;
  readonly pid: number;
  private readonly child: ChildProcess;
  private readonly output: Output;

  constructor(child: ChildProcess, output: Output, link: string) {
    this.child = child;
    this.output = output;
    this.link = link;
    this.pid = child.pid ?? 0;
  }

  get log(): string {
    return this.output.text;
  }

  async terminate(): Promise<void> {
    if (!(await end(this.child, "SIGTERM", STOP_MS))) {
      await this.kill();
      throw new Error(`the server did not end within ${STOP_MS} ms of SIGTERM:\n${this.log}`);
    }
  }

  async kill(): Promise<void> {
    await end(this.child, "SIGKILL", STOP_MS);
  }
}

/** The last part of what a process writes. */
class Output {
  text = "";

  constructor(child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (chunk: string) => {
        this.text = (this.text + chunk).slice(-LOG_CHARS);
      });
    }
  }
}

async function launch(dataDir: string, port: string): Promise<Running> {
  const args = ["serve", "--host", "127.0.0.1", "--port", port, "--data-dir", dataDir];
  const child = spawn(kandev(), args, { env: withPrograms(dataDir), stdio: ["ignore", "pipe", "pipe"] });
  const output = new Output(child);
  try {
    return new Running(child, output, await printedLink(child, output));
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}

/** Waits until the link stands in the output, or the process ended without one. */
function printedLink(child: ChildProcess, output: Output): Promise<string> {
  return new Promise((resolve, reject) => {
    const giveUp = (why: string) => reject(new Error(`the server ${why}:\n${output.text}`));
    const timer = setTimeout(giveUp, START_MS, `printed no link in ${START_MS} ms`);
    child.stdout?.on("data", () => {
      // The line is whole once its end is there.
      const line = output.text.split("\n").slice(0, -1).find((text) => LINK.test(text));
      if (line !== undefined) {
        clearTimeout(timer);
        resolve(found(line, line));
      }
    });
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      giveUp(`ended at its start (${code ?? signal})`);
    });
  });
}

/** Sends the signal and says whether the process ended in time. */
async function end(child: ChildProcess, signal: NodeJS.Signals, withinMs: number): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return true;
  }
  const exit = once(child, "exit", { signal: AbortSignal.timeout(withinMs) });
  child.kill(signal);
  return exit.then(
    () => true,
    () => false,
  );
}

/** The tester's own settings must not reach the server. */
function environment(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith("KANDEV_"));
  return Object.fromEntries(own);
}

function programs(dataDir: string): string {
  return join(dataDir, "programs");
}

function withPrograms(dataDir: string): NodeJS.ProcessEnv {
  const env = environment();
  return { ...env, PATH: `${programs(dataDir)}:${env["PATH"] ?? ""}` };
}

function kandev(): string {
  return program("KANDEV_BIN");
}

/** The scripted agent, for tasks that a test creates. */
export function fakeAgent(): string {
  return program("FAKE_AGENT_BIN");
}

function program(variable: string): string {
  const path = process.env[variable];
  if (path === undefined) {
    throw new Error(`${variable} is not set: run \`cargo xtask test --only e2e\``);
  }
  return path;
}

function found(text: string, complaint: string): string {
  const link = LINK.exec(text)?.[0];
  if (link === undefined) {
    throw new Error(complaint);
  }
  return link;
}
