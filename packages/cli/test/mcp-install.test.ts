import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLIENTS, type ClientName } from '../src/mcp/clients.ts';
import { entriesOf, parseJsonc } from '../src/mcp/edit-json.ts';
import { run } from './tally.ts';

const SCRIPT = fileURLToPath(new URL('../bin/tally.js', import.meta.url));
const wrapped = (...args: string[]) => ({
  command: process.execPath,
  args: [SCRIPT, 'mcp', 'wrap', ...args],
});

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tally-install-'));
  file = join(folder, 'mcp.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const install = (client: ClientName, ...args: string[]) =>
  run(['mcp', 'install', client, ...args], {
    env: { HOME: folder, XDG_CONFIG_HOME: '', CODEX_HOME: join(folder, '.codex') },
  });
const backups = () => readdirSync(folder).filter((name) => name.endsWith('.backup'));

describe('tally mcp install', () => {
  it('prints the change, and makes it only with --write', async () => {
    const { code, stdout, stderr } = await install(
      'cursor',
      '--name',
      'files',
      '--',
      'npx',
      '-y',
      'server',
      '.',
    );
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ mcpServers: { files: wrapped('--', 'npx', '-y', 'server', '.') } });
    expect(existsSync(join(folder, '.cursor'))).toBe(false);
    await install('cursor', '--name', 'files', '--write', '--', 'npx', '-y', 'server', '.');
    expect(readFileSync(join(folder, '.cursor/mcp.json'), 'utf8').trim()).toBe(stdout.trim());
    const again = await install('cursor', '--name', 'files', '--write', '--', 'npx', '-y', 'server', '.');
    expect(again).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('Nothing in') });
  });

  it('keeps comments, order and mode of JSON, and a copy of what it was', async () => {
    const before = `{
    // Mine.
    "inputs": [ ],
    "servers": {
        "a": { "command": "npx", /* why */ "args": ["-y", "a"], "env": {"K": "v"} },
        "b": { "type": "http", "url": "https://b.example/mcp", "headers": { "X-Key": "\${input:key}" } },
    },
}
`;
    const real = join(folder, 'real.json');
    writeFileSync(real, before, { mode: 0o640 });
    symlinkSync(real, file);
    const { code, stderr } = await install('vscode', '--all', '--write', '--file', file);
    expect(code, stderr).toBe(0);
    const after = readFileSync(real, 'utf8');
    for (const kept of ['    // Mine.\n    "inputs": [ ],', '/* why */', '"env": {"K": "v"}'])
      expect(after).toContain(kept);
    expect(entriesOf(parseJsonc(after), 'servers')).toEqual({
      a: { ...wrapped('--', 'npx', '-y', 'a'), env: { K: 'v' } },
      b: {
        type: 'stdio',
        ...wrapped('--server', 'https://b.example/mcp', '--header-from', 'X-Key=MCP_HEADER_X_KEY'),
        // biome-ignore lint/suspicious/noTemplateCurlyInString: VS Code puts the value in.
        env: { MCP_HEADER_X_KEY: '${input:key}' },
      },
    });
    expect(statSync(real).mode & 0o777).toBe(0o640);
    expect(readFileSync(join(folder, backups()[0] ?? ''), 'utf8')).toBe(before);
    await install('vscode', '--all', '--write', '--file', file);
    expect(readFileSync(real, 'utf8')).toBe(after);
    expect(backups()).toHaveLength(1);
  });

  it('changes TOML, and keeps its comments', async () => {
    const before = `model = "x" # mine

[mcp_servers.files] # the files
command = "npx"
args = [
  "-y", # yes
  "files",
]
startup_timeout_sec = 20

[mcp_servers.files.env]
K = "v"

[mcp_servers."a b"]
url = "https://c.example/mcp"
`;
    writeFileSync(file, before);
    const { code, stderr } = await install('codex', '--all', '--write', '--file', file);
    expect(code, stderr).toBe(0);
    const after = readFileSync(file, 'utf8');
    const one = wrapped('--', 'npx', '-y', 'files');
    const two = wrapped('--server', 'https://c.example/mcp');
    expect(after).toBe(`model = "x" # mine

[mcp_servers.files] # the files
command = ${JSON.stringify(one.command)}
args = ${JSON.stringify(one.args)}
startup_timeout_sec = 20

[mcp_servers.files.env]
K = "v"

[mcp_servers."a b"]
command = ${JSON.stringify(two.command)}
args = ${JSON.stringify(two.args)}
`);
    const added = await install('codex', '--name', 'new', '--write', '--file', file, '--', 'x', '"');
    const table = `[mcp_servers.new]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(wrapped('--', 'x', '"').args)}\n`;
    expect(added.stdout.trim()).toBe(table.trim());
    expect(readFileSync(file, 'utf8')).toBe(`${after}\n${table}`);
  });

  it.each([
    ['cursor', ['--name', 'x'], '{}', 'No server x is configured'],
    ['cursor', [], '{}', 'Name the server with --name'],
    ['cursor', ['--all', '--name', 'x'], '{}', '--all stands alone'],
    [
      'cursor',
      ['--all'],
      '{"mcpServers":{"x":{"type":"sse","url":"https://x"}}}',
      'its transport is the one of 2024-11-05',
    ],
    ['cursor', ['--all'], '{"mcpServers":', "can't be read as JSON"],
    ['codex', ['--all'], 'x = [', "can't be read as TOML"],
    ['codex', ['--all'], 'mcp_servers = { x = { command = "y" } }', 'by hand'],
    [
      'codex',
      ['--all'],
      '[mcp_servers.x]\nurl = "https://x"\nbearer_token_env_var = "T"',
      'it has bearer_token_env_var',
    ],
  ] as const)('changes nothing of what it can’t change: %s %j %s', async (client, args, text, message) => {
    writeFileSync(file, text);
    const { code, stderr } = await install(client, ...args, '--write', '--file', file);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('knows where each client keeps its servers', () => {
    const paths = (platform: NodeJS.Platform) =>
      Object.values(CLIENTS).map(({ path }) => path({ platform, home: '/h', env: {} }));
    expect(paths('linux')).toEqual([
      '/h/.claude.json',
      '/h/.config/Claude/claude_desktop_config.json',
      '/h/.cursor/mcp.json',
      '/h/.config/Code/User/mcp.json',
      '/h/.codex/config.toml',
    ]);
    expect(paths('darwin')[1]).toBe('/h/Library/Application Support/Claude/claude_desktop_config.json');
    expect(paths('win32')[3]).toBe('/h/AppData/Roaming/Code/User/mcp.json');
  });
});
