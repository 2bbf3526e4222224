import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentName, Handed, HookEvent } from './event.ts';
import { fetchReceipt } from './model-calls.ts';
import { type Issuance, RecordedAgent, type ToolUse } from './recorded-agent.ts';

export interface AgentSessionOptions {
  readonly issuance: Issuance;
  readonly log: (text: string) => void;
}

/** A session of a coding agent: its own tool uses in one file, those of each sub-agent in another. */
export class AgentSession {
  readonly #agent: AgentName;
  readonly #path: string;
  readonly #issuance: Issuance;
  readonly #log: (text: string) => void;
  #main: RecordedAgent | null = null;
  readonly #children = new Map<string, RecordedAgent>();
  /** Ids of sub-agents that have ended, and whose sessions are not closed yet. */
  readonly #ending = new Set<string>();
  /** What writes into the files, one after the other. */
  #writing: Promise<unknown> = Promise.resolve();
  /** References that are being fetched, in the order of their model calls. */
  #fetching: Promise<unknown> = Promise.resolve();

  /** @param path file of the session, without `.jsonl` */
  constructor(agent: AgentName, path: string, { issuance, log }: AgentSessionOptions) {
    this.#agent = agent;
    this.#path = path;
    this.#issuance = issuance;
    this.#log = log;
  }

  /** Records an event, after those before it. */
  take(handed: Handed): Promise<void> {
    return this.#inOrder(() => this.#record(handed));
  }

  /** Ends it: what is being fetched is waited for. */
  async close(): Promise<void> {
    await this.#settle();
    for (const child of this.#children.values()) await child.close();
    this.#children.clear();
    await this.#main?.close();
    this.#main = null;
  }

  /** Leaves the session open, to be gone on with. */
  async release(): Promise<void> {
    await this.#settle();
    for (const recorded of [...this.#children.values(), this.#main]) await recorded?.release();
  }

  async #settle(): Promise<void> {
    await this.#writing;
    await this.#fetching;
    await this.#writing;
  }

  #inOrder<T>(write: () => Promise<T>): Promise<T> {
    const written = this.#writing.then(write);
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #record({ event, service }: Handed): Promise<void> {
    const recorded = await this.#of(event);
    const { transcript_path: path, hook_event_name: name } = event;
    const isOwnPath = event.agent_id === undefined && typeof path === 'string';
    if (isOwnPath && name === 'SessionStart') recorded.skip(path);
    else if (isOwnPath) await this.#read(recorded, path, service);
    switch (name) {
      case 'PreToolUse':
        return recorded.begin(useIn(event));
      case 'PostToolUse':
        return recorded.end(useIn(event), 'completed', event.tool_response);
      case 'PostToolUseFailure':
        return recorded.end(useIn(event), event.is_interrupt === true ? 'cancelled' : 'error', event.error);
      case 'PostToolBatch':
        return recorded.endBatch(batchIn(event));
      case 'UserPromptSubmit':
      case 'Stop':
        return recorded.betweenBatches();
      case 'SubagentStop':
        return this.#endChild(event, recorded, service);
      default:
        return undefined;
    }
  }

  /** The agent that an event is of. A sub-agent's session begins with its first event. */
  async #of({ agent_id: id }: HookEvent): Promise<RecordedAgent> {
    this.#main ??= await this.#open(this.#path);
    if (id === undefined) return this.#main;
    // A sub-agent that goes on has not ended.
    this.#ending.delete(id);
    const child = this.#children.get(id) ?? (await this.#open(`${this.#path}-${id}`, this.#main));
    this.#children.set(id, child);
    return child;
  }

  async #open(path: string, parent?: RecordedAgent): Promise<RecordedAgent> {
    const recorded = await RecordedAgent.open(this.#agent, `${path}.jsonl`, this.#issuance, parent);
    for (const text of recorded.remarks) this.#log(text);
    if (parent !== undefined) this.#keep(recorded.opening);
    return recorded;
  }

  async #endChild(event: HookEvent, child: RecordedAgent, service: string | null): Promise<void> {
    const { agent_id: id, agent_transcript_path: path } = event;
    if (id === undefined) return;
    if (typeof path === 'string') await this.#read(child, path, service);
    this.#ending.add(id);
    // Its references are still to come: the session is closed after them.
    this.#fetching = this.#fetching
      .then(() => this.#inOrder(() => this.#closeChild(id)))
      .catch((error: Error) => this.#log(`${child.path} is not closed: ${error.message}`));
  }

  async #closeChild(id: string): Promise<void> {
    const child = this.#children.get(id);
    if (child === undefined || !this.#ending.delete(id)) return;
    this.#children.delete(id);
    await child.close();
  }

  async #read(recorded: RecordedAgent, path: string, service: string | null): Promise<void> {
    for (const receiptId of await recorded.read(path)) {
      if (service !== null)
        this.#fetching = this.#fetching.then(() => this.#refer(recorded, service, receiptId));
    }
  }

  async #refer(recorded: RecordedAgent, service: string, receiptId: string): Promise<void> {
    try {
      const { text, sha256 } = await fetchReceipt(service, receiptId);
      this.#keep({ id: receiptId, text });
      await this.#inOrder(() => recorded.reference(receiptId, sha256));
    } catch (error) {
      this.#log(`${recorded.path} does not refer to ${receiptId}: ${(error as Error).message}`);
    }
  }

  /** Keeps a receipt that a session refers to, for `tally session verify --referenced`. */
  #keep({ id, text }: { readonly id: string; readonly text: string }): void {
    const folder = `${this.#path}.receipts`;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, `${id}.json`), text, { mode: 0o600 });
  }
}

function useIn({ tool_use_id: id = '', tool_name: tool = '', tool_input: input }: HookEvent): ToolUse {
  return { id, tool, input };
}

function batchIn({ tool_calls: calls = [] }: HookEvent) {
  return calls.map(({ tool_use_id: id, tool_name: tool, tool_input: input, tool_response: result }) => ({
    id,
    tool,
    input,
    result,
  }));
}
