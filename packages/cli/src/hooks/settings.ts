import { existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeAtomically } from '../files.ts';
import { UsageError } from '../output.ts';
import type { AgentName } from './event.ts';

/** A settings file of an agent, as far as hooks go. */
interface Settings {
  readonly hooks?: Readonly<Record<string, readonly HookGroup[]>>;
}

interface HookGroup {
  readonly matcher?: string;
  readonly hooks: readonly HookCommand[];
}

interface HookCommand {
  readonly type: string;
  readonly command?: string;
  readonly timeout?: number;
}

/** Seconds. A little longer than the hook itself waits. */
const TIMEOUT_S = 15;
/** Codex gives its hooks no more at the end of a session, and complains if they ask for it. */
const CODEX_END_S = 3;
const HOOK = fileURLToPath(new URL('../../bin/tally-hook.js', import.meta.url));

/** Events that are recorded, and those that tell where a session and its batches begin and end. */
const EVENTS: Readonly<Record<AgentName, readonly string[]>> = {
  'claude-code': [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'PostToolUseFailure',
    'PostToolBatch',
    'SubagentStart',
    'SubagentStop',
    'Stop',
    'SessionEnd',
  ],
  codex: [
    'SessionStart',
    'UserPromptSubmit',
    'PreToolUse',
    'PostToolUse',
    'SubagentStart',
    'SubagentStop',
    'Stop',
    'SessionEnd',
  ],
};

/** What the hook needs to know. */
export interface HookTarget {
  readonly agent: AgentName;
  /** Folder of the recorder's socket. */
  readonly home: string;
  /** The socket of a recorder that somebody else runs. */
  readonly socket?: string | undefined;
  /** Base URL of the service that the agent's model calls go to. */
  readonly service?: string | undefined;
}

/** The settings file of an agent: of this user, or of the project in a folder, for this user alone. */
export function settingsFile(agent: AgentName, project: string | null): string {
  const { CLAUDE_CONFIG_DIR: claude = '', CODEX_HOME: codex = '' } = process.env;
  if (agent === 'codex') {
    return join(
      project === null ? codex || join(homedir(), '.codex') : join(project, '.codex'),
      'hooks.json',
    );
  }
  if (project !== null) return join(project, '.claude', 'settings.local.json');
  return join(claude || join(homedir(), '.claude'), 'settings.json');
}

/** The settings with our hooks, in place of any that are there. All else is kept. */
export function withHooks<S extends Settings>(settings: S, target: HookTarget): S & Required<Settings> {
  const hookOf = (event: string): HookCommand => ({
    type: 'command',
    command: commandOf(target),
    timeout: target.agent === 'codex' && event === 'SessionEnd' ? CODEX_END_S : TIMEOUT_S,
  });
  const others = Object.entries(settings.hooks ?? {}).flatMap(([event, groups]) => {
    const kept = groups.flatMap(withoutOurs);
    return kept.length > 0 ? [[event, kept] as const] : [];
  });
  const hooks: Record<string, HookGroup[]> = Object.fromEntries(others);
  for (const event of EVENTS[target.agent])
    hooks[event] = [...(hooks[event] ?? []), { hooks: [hookOf(event)] }];
  return { ...settings, hooks };
}

/** Puts the hooks into a settings file. Returns whether that changed it. @throws UsageError for a file that is no settings */
export function writeHooks(path: string, target: HookTarget): boolean {
  const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
  const settings = before === null || before.trim() === '' ? {} : parsed(path, before);
  const after = `${JSON.stringify(withHooks(settings, target), null, 2)}\n`;
  if (before !== null && JSON.stringify(JSON.parse(after)) === JSON.stringify(settings)) return false;
  mkdirSync(dirname(path), { recursive: true });
  // A link to the file, as tools for dotfiles make it, stays one.
  if (before === null) writeAtomically(path, after, 0o600);
  else writeAtomically(realpathSync(path), after, statSync(path).mode & 0o777);
  return true;
}

function parsed(path: string, text: string): Settings {
  const settings: unknown = jsonIn(text);
  const isObject = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  const hooks = isObject(settings) ? (settings as Settings).hooks : null;
  const isFit =
    hooks === undefined ||
    (isObject(hooks) &&
      Object.values(hooks).every(
        (groups) => Array.isArray(groups) && groups.every((group: HookGroup) => Array.isArray(group?.hooks)),
      ));
  if (!isObject(settings) || !isFit) {
    throw new UsageError(`${path} is not a settings file with hooks, and was left unchanged.`);
  }
  return settings;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function withoutOurs(group: HookGroup): HookGroup[] {
  const hooks = group.hooks.filter(({ command }) => command?.includes('tally-hook.js') !== true);
  return hooks.length > 0 ? [{ ...group, hooks }] : [];
}

function commandOf({ agent, home, socket, service }: HookTarget): string {
  const words = [process.execPath, HOOK, agent, '--home', home];
  if (socket !== undefined) words.push('--socket', socket);
  if (service !== undefined) words.push('--service', service);
  return words.map(quoted).join(' ');
}

/** A word for the shell by which agents run hooks. */
function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
