import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import { isBaseMessage, isToolMessage, type ToolMessage } from '@langchain/core/messages';
import type { Begun, Session, ToolEnd } from '@tallystick/sdk';

/** Tools run in the process of the agent. */
const SERVER = { name: 'langchain', version: null, transport: 'in_process', identity_sha256: null } as const;

/**
 * Records the runs of tools in a session: `agent.invoke(…, { callbacks: [new SessionCallbackHandler(session)] })`. A tool that
 * can't be noted in the session is not run, and a result whose receipt can't be kept is not passed: the run fails.
 */
export class SessionCallbackHandler extends BaseCallbackHandler {
  readonly name = 'tallystick_session';
  readonly #session: Session;
  /** Calls that have not ended, by run. */
  readonly #calls = new Map<string, Begun>();

  constructor(session: Session) {
    super({ _awaitHandler: true, raiseError: true });
    this.#session = session;
  }

  override async handleToolStart(
    _tool: unknown,
    input: string,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    _metadata?: Record<string, unknown>,
    runName?: string,
  ): Promise<void> {
    const call = { tool: runName || 'tool', server: SERVER, arguments: argumentsOf(input) };
    this.#calls.set(runId, await this.#session.begin(call));
  }

  override handleToolEnd(output: unknown, runId: string): Promise<void> {
    if (!isMessage(output)) return this.#end(runId, { outcome: 'completed', result: output });
    const failed = 'status' in output && output.status === 'error';
    return this.#end(runId, { outcome: failed ? 'error' : 'completed', result: output.content });
  }

  override handleToolError(error: unknown, runId: string): Promise<void> {
    const isAbort = error instanceof Error && error.name === 'AbortError';
    return this.#end(runId, { outcome: isAbort ? 'cancelled' : 'error' });
  }

  async #end(runId: string, end: ToolEnd): Promise<void> {
    const begun = this.#calls.get(runId);
    if (begun === undefined) return;
    this.#calls.delete(runId);
    await this.#session.end(begun, end);
  }
}

/** A tool's arguments. LangChain tells a handler of an object as JSON, and of a text as it is. */
function argumentsOf(input: string): unknown {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null ? value : input;
  } catch {
    return input;
  }
}

/** Whether a tool's output was put into a message for the model, as that of a tool call is. */
function isMessage(output: unknown): output is ToolMessage {
  return isBaseMessage(output) && isToolMessage(output);
}
