/** The coding agents whose hooks are understood. */
export const AGENTS = ['claude-code', 'codex'] as const;
export type AgentName = (typeof AGENTS)[number];

/** What `bin/tally-hook.js` hands over: a line of JSON. */
export interface Handed {
  readonly agent: AgentName;
  /** Base URL under which the agent calls models, if it is known. */
  readonly service: string | null;
  readonly event: HookEvent;
}

/** An event as the agent gives it to its hooks. Claude Code 2.1 and Codex 0.169 use the same names. */
export interface HookEvent {
  readonly hook_event_name: string;
  readonly session_id: string;
  /** The agent's own record of the session, JSON Lines. */
  readonly transcript_path?: string | null;
  /** Only of what a sub-agent does. */
  readonly agent_id?: string;
  readonly agent_transcript_path?: string | null;
  readonly tool_name?: string;
  readonly tool_use_id?: string;
  readonly tool_input?: unknown;
  readonly tool_response?: unknown;
  /** What a tool that failed said. */
  readonly error?: string;
  readonly is_interrupt?: boolean;
  /** Of `PostToolBatch` (Claude Code): every call of the batch, also those that were never carried out. */
  readonly tool_calls?: readonly BatchedCall[];
}

interface BatchedCall {
  readonly tool_name: string;
  readonly tool_use_id: string;
  readonly tool_input: unknown;
  readonly tool_response?: unknown;
}

/** What may stand in the name of a file. */
const ID = /^[\w-]{1,128}$/;

/** Reads a line that a hook handed over. @throws Error that says what is wrong with it */
export function readHanded(line: string): Handed {
  const { agent, service, event: text } = JSON.parse(line) as Record<string, unknown>;
  const name = AGENTS.find((known) => known === agent);
  if (name === undefined) throw new Error('it names no known agent');
  const event: unknown = JSON.parse(String(text));
  if (!isEvent(event)) throw new Error('its event has no name or no session');
  return { agent: name, service: typeof service === 'string' ? service : null, event };
}

function isEvent(event: unknown): event is HookEvent {
  if (typeof event !== 'object' || event === null) return false;
  const { hook_event_name, session_id, agent_id, tool_calls, ...rest } = event as Record<string, unknown>;
  const isText = (value: unknown): boolean =>
    value === undefined || value === null || typeof value === 'string';
  return (
    typeof hook_event_name === 'string' &&
    isId(session_id) &&
    (agent_id === undefined || isId(agent_id)) &&
    ['transcript_path', 'agent_transcript_path', 'tool_name', 'tool_use_id'].every((name) =>
      isText(rest[name]),
    ) &&
    (tool_calls === undefined || (Array.isArray(tool_calls) && tool_calls.every(isBatched)))
  );
}

function isBatched(call: unknown): boolean {
  if (typeof call !== 'object' || call === null) return false;
  const { tool_name, tool_use_id } = call as Record<string, unknown>;
  return typeof tool_name === 'string' && typeof tool_use_id === 'string';
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && ID.test(value);
}
