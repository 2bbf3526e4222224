import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where a client keeps its servers. */
export interface ClientFile {
  readonly form: 'json' | 'toml';
  /** Member with the servers, by name. */
  readonly member: string;
  /** The user's own file. */
  readonly path: (place: Place) => string;
}

/** The machine that a path is for. */
export interface Place {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The clients whose configuration `tally mcp install` changes. */
export const CLIENTS = {
  'claude-code': {
    form: 'json',
    member: 'mcpServers',
    path: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR ?? home, '.claude.json'),
  },
  'claude-desktop': {
    form: 'json',
    member: 'mcpServers',
    path: (place) => join(applicationData(place), 'Claude', 'claude_desktop_config.json'),
  },
  cursor: { form: 'json', member: 'mcpServers', path: ({ home }) => join(home, '.cursor', 'mcp.json') },
  vscode: {
    form: 'json',
    member: 'servers',
    path: (place) => join(applicationData(place), 'Code', 'User', 'mcp.json'),
  },
  codex: {
    form: 'toml',
    member: 'mcp_servers',
    path: ({ home, env }) => join(env.CODEX_HOME ?? join(home, '.codex'), 'config.toml'),
  },
} as const satisfies Readonly<Record<string, ClientFile>>;

export type ClientName = keyof typeof CLIENTS;

/** This machine. */
export function here(): Place {
  return { platform: process.platform, home: homedir(), env: process.env };
}

function applicationData({ platform, home, env }: Place): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA ?? join(home, 'AppData', 'Roaming');
  return env.XDG_CONFIG_HOME ?? join(home, '.config');
}
