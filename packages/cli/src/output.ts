import { styleText } from 'node:util';
import { TallyError } from '@tallystick/core';
import { printableLines } from './printable.ts';

type Style = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/**
 * Exit codes: 0 done (valid and trusted), 1 failed (invalid), 2 wrong usage or an input that cannot
 * be read, 3 intact but not trusted.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, untrusted: 3 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** The command cannot be carried out as given. `code` is `usage` unless the cause has a code of its own. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: string;

  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = options.code ?? 'usage';
  }
}

/** Turns the fault of a document or node that is not what the command judges into one that exits with 2, under the same code. */
export function asUsage(error: unknown): unknown {
  return error instanceof TallyError
    ? new UsageError(error.message, { code: error.code, cause: error })
    : error;
}

/** Coloured only on a terminal and without NO_COLOR, or where FORCE_COLOR asks for it. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** Prints a result to standard output, where a pipe reads it. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Prints a remark for the person at the terminal to standard error, so that it does not get into a pipe. */
export function remark(text: string): void {
  process.stderr.write(`${paint('dim', printableLines(text), process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** An error as `--json` prints it, as `{"error": …}`. */
export interface ErrorReport {
  /** A code of the error table, or `usage`. */
  readonly code: string;
  readonly message: string;
  readonly field?: string;
}

/** Prints what went wrong and returns the exit code. */
export function explain(error: unknown, json: boolean): Exit {
  const report = describe(error);
  const { code, message } = report;
  if (json) printJson({ error: report });
  else {
    const text = printableLines(message);
    process.stderr.write(
      `${paint('red', `tally: ${text}`, process.stderr)} ${paint('dim', `(${code})`, process.stderr)}\n`,
    );
    if (code === 'internal' && error instanceof Error)
      remark(`This is a fault in tally itself. ${error.stack ?? ''}`);
  }
  return error instanceof UsageError || code === 'usage' ? EXIT.usage : EXIT.failed;
}

export function describe(error: unknown): ErrorReport {
  if (error instanceof TallyError) {
    const { code, message, field } = error;
    return field === undefined ? { code, message } : { code, message, field };
  }
  if (error instanceof UsageError) return { code: error.code, message: error.message };
  if (!(error instanceof Error)) return { code: 'internal', message: String(error) };
  // The server's configuration error. It is known by its name, because its module is loaded only where it is needed.
  if (error.name === 'ConfigError') return { code: 'usage', message: error.message };
  if (error.name === 'ListenError') return { code: 'unavailable', message: error.message };
  if ('syscall' in error) return { code: 'usage', message: error.message };
  if ('errcode' in error)
    return { code: 'unavailable', message: `The database cannot be used: ${error.message}.` };
  return { code: 'internal', message: error.message };
}
