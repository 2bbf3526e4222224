import { readFileSync } from 'node:fs';
import { readSessionReceipt, type SessionHead, type ToolOutcome } from '@tallystick/core';
import type { Begun } from '@tallystick/sdk';
import { openSessionFile, type SessionFile, type SessionFileOptions } from '@tallystick/sdk/session-file';
import type { AgentName } from './event.ts';
import { referencedIn, Transcript } from './transcript.ts';

/** How long to wait for a recorder that is ending, in milliseconds. */
const WAIT_MS = 5_000;

/** Who signs a session's receipts, and what anchors them: the recorder's own key and nothing, if absent. */
export type Issuance = Pick<SessionFileOptions, 'client' | 'anchor'>;

/** A tool use as an event or a transcript tells it. */
export interface ToolUse {
  readonly id: string;
  readonly tool: string;
  readonly input: unknown;
}

/** An agent or a sub-agent, with the session that its tool uses are recorded in. */
export class RecordedAgent {
  /** Ids of receipts that the session refers to, or is about to. */
  readonly referenced: Set<string>;
  readonly #agent: AgentName;
  readonly #file: SessionFile;
  readonly #begun = new Map<string, Begun>();
  readonly #ended = new Set<string>();
  readonly #transcripts = new Map<string, Transcript>();
  /** Calls that the transcript has told of, and that no hook has. */
  readonly #told = new Map<string, ToolUse>();
  /** Whether the session began when this object did: then all that its transcripts tell belongs to it. */
  readonly #isNew: boolean;
  /** Whether every call of the present batch was begun under our eyes, so that an unknown one was never carried out. */
  #sawBatch: boolean;

  private constructor(agent: AgentName, file: SessionFile, isNew: boolean, earlier: readonly string[]) {
    this.#agent = agent;
    this.#file = file;
    this.#isNew = isNew;
    this.#sawBatch = isNew;
    this.referenced = referencedIn(earlier);
  }

  /**
   * Opens the session of an agent, or goes on with it.
   * @param path file of the session; another one if that session is closed
   * @param parent the agent that this is a sub-agent of; its session refers to the new one
   */
  static async open(
    agent: AgentName,
    path: string,
    issuance: Issuance,
    parent?: RecordedAgent,
  ): Promise<RecordedAgent> {
    const head = parent?.head;
    const file = await openSessionFile(path, {
      ...issuance,
      waitMs: WAIT_MS,
      ...(head && { parent: { id: head.id, receipt_sha256: head.hash, seq: String(head.seq) } }),
    });
    const isNew = file.path === path && file.head.seq === 0;
    const recorded = new RecordedAgent(agent, file, isNew, isNew ? [] : filesUpTo(path, file.path));
    if (parent !== undefined && file.head.seq === 0) {
      const { id, sha256 } = recorded.opening;
      await parent.reference(id, sha256, file.id);
    }
    return recorded;
  }

  get head(): SessionHead {
    return this.#file.head;
  }

  /** Path of the session's file. */
  get path(): string {
    return this.#file.path;
  }

  /** The receipt that opens the session, as a receipt of another session refers to it. */
  get opening(): { readonly id: string; readonly sha256: string; readonly text: string } {
    const [text = ''] = readFileSync(this.#file.path, 'utf8').split('\n');
    const { receipt_id: id, hash: sha256 } = readSessionReceipt(text);
    return { id, sha256, text };
  }

  get remarks(): readonly string[] {
    return this.#file.remarks;
  }

  async begin({ id, tool, input }: ToolUse): Promise<void> {
    if (this.#begun.has(id) || this.#ended.has(id)) return;
    this.#begun.set(id, await this.#file.begin({ tool, server: this.#server(), arguments: input }));
  }

  /** Ends a tool use, also one that was never begun; nothing, if it has ended already. */
  async end(use: ToolUse, outcome: ToolOutcome, result: unknown): Promise<void> {
    await this.begin(use);
    const begun = this.#begun.get(use.id);
    if (begun === undefined) return;
    await this.#file.end(begun, { outcome, result });
    this.#begun.delete(use.id);
    this.#ended.add(use.id);
  }

  /** A batch is over: what has not ended was never carried out. */
  async endBatch(uses: readonly (ToolUse & { readonly result: unknown })[]): Promise<void> {
    for (const use of uses) {
      if (this.#sawBatch || this.#begun.has(use.id)) await this.end(use, 'denied', use.result);
    }
    this.#sawBatch = true;
  }

  /** A prompt is over, or a new one begins: no batch is under way. */
  betweenBatches(): void {
    this.#sawBatch = true;
  }

  /** Passes over what a transcript has told until now: it was before this session. */
  skip(path: string): void {
    if (!this.#transcripts.has(path)) this.#transcript(path).news();
  }

  /** Reads what a transcript has told since the last time. Returns the ids of receipts of model calls that were not known. */
  async read(path: string): Promise<string[]> {
    const isPast = !this.#isNew && !this.#transcripts.has(path);
    const news = this.#transcript(path).news();
    const calls = news.filter((told) => told.kind === 'model_call').map(({ receiptId }) => receiptId);
    const unknown = [...new Set(calls)].filter((id) => !this.referenced.has(id));
    for (const id of unknown) this.referenced.add(id);
    for (const told of isPast ? [] : news) {
      if (told.kind === 'call') this.#told.set(told.id, told);
      if (told.kind === 'result') await this.#endAsTold(told.id, told.result);
    }
    return unknown;
  }

  #transcript(path: string): Transcript {
    const known = this.#transcripts.get(path) ?? new Transcript(this.#agent, path);
    this.#transcripts.set(path, known);
    return known;
  }

  async #endAsTold(id: string, result: unknown): Promise<void> {
    const use = this.#told.get(id);
    if (use === undefined) return;
    this.#told.delete(id);
    await this.end(use, 'completed', result);
  }

  async reference(receiptId: string, sha256: string, child?: string): Promise<void> {
    await this.#file.reference({ receipt_id: receiptId, receipt_sha256: sha256, ...(child && { child }) });
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  async release(): Promise<void> {
    await this.#file.release();
  }

  #server() {
    return { name: this.#agent, version: null, transport: 'in_process', identity_sha256: null } as const;
  }
}

/** The files of a session and of those that continue it, up to one of them. */
function filesUpTo(path: string, last: string): string[] {
  const files = [path];
  for (let number = 2; files.at(-1) !== last; number++)
    files.push(path.replace(/\.jsonl$/, `-${number}.jsonl`));
  return files;
}
