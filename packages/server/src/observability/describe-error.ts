/** An error as the log has it. */
interface DescribedError {
  readonly type: string;
  readonly message: string;
  /** A stable code of this service, or that of the system: `ECONNREFUSED`. */
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

/** Causes of causes that are told. */
const MAX_DEPTH = 4;

/** What the language itself throws, and what nobody named: such an error was expected by nobody. */
const UNNAMED = new Set(['Error', 'TypeError', 'RangeError', 'ReferenceError', 'SyntaxError', 'URIError']);

/**
 * What the log says of something that was thrown: its name, message and code, and those of its causes. A stack is told
 * only of what nobody expected, which is a fault in the program; a provider or a database that fails has none.
 */
export function describeError(thrown: unknown, depth = 0): DescribedError {
  if (!(thrown instanceof Error)) return { type: typeof thrown, message: String(thrown) };
  const { name: type, message, stack, cause } = thrown;
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
  const unexpected = cause === undefined && UNNAMED.has(type) && !isExpected(code);
  return {
    type,
    message,
    ...(code !== undefined && { code }),
    ...(unexpected && stack !== undefined && { stack }),
    ...(cause !== undefined && depth < MAX_DEPTH && { cause: describeError(cause, depth + 1) }),
  };
}

/** Node's own codes are of wrong arguments and states, but for that of a database that refuses. */
function isExpected(code: string | undefined): boolean {
  return code !== undefined && (code === 'ERR_SQLITE_ERROR' || !code.startsWith('ERR_'));
}
