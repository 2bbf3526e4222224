import type { Session, ToolEnd } from '@tallystick/sdk';
import type { ToolSet } from 'ai';

/** The tools run in the process that calls the model. */
const SERVER = { name: 'ai-sdk', version: null, transport: 'in_process', identity_sha256: null } as const;

interface Options {
  readonly abortSignal?: AbortSignal;
}

type Execute = (input: unknown, options: Options) => unknown;

const AsyncGeneratorFunction = async function* () {}.constructor;

/**
 * Returns the same tools, each execution of which is recorded in a session: `generateText({ model, tools: recordTools(tools, session) })`.
 * A tool that can't be noted in the session is not executed, and a result whose receipt can't be kept is not passed: both fail as the
 * tool would. Tools without `execute`, which the provider or the client runs, stay as they are. Of an async iterable, the last value is
 * recorded; if it does not come from an async generator function, that value alone is passed on.
 */
export function recordTools<T extends ToolSet>(tools: T, session: Session): T {
  const recorded = Object.entries(tools).map(([name, tool]) => {
    const { execute } = tool;
    return [
      name,
      execute === undefined ? tool : { ...tool, execute: recordExecute(name, execute as Execute, session) },
    ];
  });
  return Object.fromEntries(recorded);
}

function recordExecute(tool: string, execute: Execute, session: Session): Execute {
  /** Yields what the tool yields, and returns its result. */
  async function* run(input: unknown, options: Options): AsyncGenerator<unknown, unknown> {
    const begun = await session.begin({ tool, server: SERVER, arguments: input });
    // Also the end of a stream that its reader leaves early.
    let end: ToolEnd = { outcome: 'cancelled' };
    try {
      let result = await execute(input, options);
      if (isAsyncIterable(result)) for await (result of result) yield result;
      end = { outcome: 'completed', result };
      return result;
    } catch (error) {
      end = { outcome: options.abortSignal?.aborted === true ? 'cancelled' : 'error' };
      throw error;
    } finally {
      await session.end(begun, end);
    }
  }
  if (execute instanceof AsyncGeneratorFunction) return run;
  return async (input, options) => {
    const running = run(input, options);
    for (;;) {
      const { done, value } = await running.next();
      if (done === true) return value;
    }
  };
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
