// What each agent says about a command, in its own way, is one and the same row (the scenarios of
// the source document, in the page).

import { BoardPage } from "../pages/board.page.ts";
import { type ShellRow, TaskPage } from "../pages/task.page.ts";
import { expect, test } from "../support/fixtures.ts";
import { folder } from "../support/project.ts";
import { fakeAgent } from "../support/server.ts";

type Fields = Record<string, unknown>;

const begin = (fields: Fields) => frame("tool_call", { kind: "execute", status: "in_progress", ...fields });
const more = (fields: Fields) => frame("tool_call_update", fields);
const text = (words: string) => ({ content: [{ type: "content", content: { type: "text", text: words } }] });

function frame(sessionUpdate: string, fields: Fields): string {
  return `update ${JSON.stringify({ sessionUpdate, toolCallId: "c1", ...fields })}`;
}

/** The command line of an agent that names itself so. */
const named = (name: string, version: string) => `'${fakeAgent()}' acp --name '${name}' --version ${version}`;

async function opened(row: ShellRow): Promise<ShellRow> {
  await row.toggle.click();
  return row;
}

test("[S-044] Codex: what comes in pieces is there while it runs, and once in the end", async ({ page }) => {
  const task = new TaskPage(page);
  const prompt = [
    begin({ title: "make", rawInput: { command: "make", cwd: "/w" } }),
    more({ _meta: { terminal_output_delta: { data: "one\n" } } }),
    "sleep 3000",
    more({ _meta: { terminal_output_delta: { data: "two\n" } } }),
    more({ status: "completed", rawOutput: { formatted_output: "one\ntwo\n", exit_code: 4 } }),
  ].join("\n");
  await new BoardPage(page).create({ prompt, folder: folder(), command: named("codex-acp", "0.16.0") });
  const row = await opened(task.shell("make"));
  await expect(row.body).toHaveText("one\n");
  await expect(row.mark("Command running")).toBeVisible();
  await expect(row.exit).toHaveText("Exit code 4");
  await expect(row.mark("Command failed")).toBeVisible();
  await expect(row.body).toHaveText("one\ntwo\n");
});

test("[S-041] Claude: the output comes whole, and the exit code with the terminal's end", async ({ page }) => {
  const task = new TaskPage(page);
  const claude = (fields: Fields) => ({ _meta: { claudeCode: { toolName: "Bash" }, ...fields } });
  const prompt = [
    begin({ title: "Terminal", rawInput: {}, ...claude({}) }),
    more({ title: "make", rawInput: { command: "make", description: "Builds" }, ...claude({}) }),
    more(claude({ terminal_output: { data: "built" } })),
    more({ status: "completed", ...claude({ terminal_exit: { exit_code: 0, signal: null } }) }),
  ].join("\n");
  const agent = named("@agentclientprotocol/claude-agent-acp", "0.101.0");
  await new BoardPage(page).create({ prompt, folder: folder(), command: agent });
  const row = await opened(task.shell("make"));
  await expect(row.exit).toHaveText("Exit code 0");
  await expect(row.mark("Command succeeded")).toBeVisible();
  await expect(row.body).toHaveText("built");
});

test("[S-041] OpenCode: what is told again and again is there once, and a completed failure is one", async ({ page }) => {
  const task = new TaskPage(page);
  const prompt = [
    begin({ title: "bash", rawInput: { command: "make" } }),
    more(text("one\n")),
    more(text("one\ntwo\n")),
    more({
      status: "completed",
      ...text("one\ntwo\n"),
      rawOutput: { output: "one\ntwo\n", metadata: { output: "one\ntwo\n", exit: 7 } },
    }),
  ].join("\n");
  await new BoardPage(page).create({ prompt, folder: folder(), command: named("OpenCode", "1.18.33") });
  const row = await opened(task.shell("make"));
  await expect(row.exit).toHaveText("Exit code 7");
  await expect(row.mark("Command failed")).toBeVisible();
  await expect(row.body).toHaveText("one\ntwo\n");
});

test("[S-041] Auggie: its wrapping is no output, and its return code the exit code", async ({ page }) => {
  const task = new TaskPage(page);
  const output =
    "Here are the results from executing the command.\n<return-code>\n0\n</return-code>\n<output>\nbuilt\n</output>";
  const prompt = [
    begin({ title: "Run `make`", rawInput: { command: "make", cwd: "/w" } }),
    more({ status: "completed", rawOutput: { output } }),
  ].join("\n");
  await new BoardPage(page).create({ prompt, folder: folder(), command: named("auggie", "0.36.0") });
  const row = await opened(task.shell("make"));
  await expect(row.exit).toHaveText("Exit code 0");
  await expect(row.mark("Command succeeded")).toBeVisible();
  await expect(row.body).toHaveText(/^built\n?$/);
});

test("[S-041] OMP: the command stands in its row and not in its output, and an unknown exit stays so", async ({
  page,
}) => {
  const task = new TaskPage(page);
  const prompt = [
    begin({ title: "$ make all", rawInput: { command: "make all" }, ...text("$ make all") }),
    more({ status: "completed", ...text("$ make all\nbuilt"), rawOutput: { details: { wallTimeMs: 9 } } }),
  ].join("\n");
  await new BoardPage(page).create({ prompt, folder: folder(), command: named("oh-my-pi", "18.2.0") });
  const row = await opened(task.shell("make all"));
  await expect(row.command).toHaveText("make all");
  await expect(row.body).toHaveText("built");
  await expect(row.exit).toHaveText("Exit code unavailable");
  await expect(row.mark("Command status unknown")).toBeVisible();
});

test("[S-024] what an agent says of a command after its turn changes the row, and begins nothing", async ({ page }) => {
  const task = new TaskPage(page);
  const late = { sessionUpdate: "tool_call_update", toolCallId: "c1", status: "completed" };
  const end = { ...late, rawOutput: { output: "late\n", exit_code: 3 } };
  const prompt = [begin({ title: "make", rawInput: { command: "make" } }), `later 1500 ${JSON.stringify(end)}`].join("\n");
  await new BoardPage(page).create({ prompt, folder: folder(), command: named("acme", "1.0.0") });
  const row = task.shell("make");
  await expect(row.mark("Command cancelled")).toBeVisible();
  await expect(row.exit).toHaveText("Exit code 3");
  await expect(row.mark("Command failed")).toBeVisible();
  await opened(row);
  await expect(row.body).toHaveText("late\n");
  await expect(task.log.getByText("Worked for")).toHaveCount(1);
});
