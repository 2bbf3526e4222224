import { styleText } from 'node:util';
import { TallyError } from '@tallystick/core';
import { printableLines } from './printable.ts';

type Style = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/**
 * How a command ends: 0 done (valid and trusted), 1 failed (invalid), 2 wrong usage or something that cannot
 * be read, 3 intact but not trusted.
 */
export const EXIT = { ok: 0, failed: 1, usage: 2, untrusted: 3 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** The command cannot be done as it was called. `code` is `usage` unless the cause has a code of its own. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly code: string;

  constructor(message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = options.code ?? 'usage';
  }
}

/** A document's or node's fault, where it is not what the command judges: it then ends with 2 and the same code. */
export function asUsage(error: unknown): unknown {
  return error instanceof TallyError
    ? new UsageError(error.message, { code: error.code, cause: error })
    : error;
}

/** Coloured only on a terminal and without NO_COLOR, or where FORCE_COLOR asks for it. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** A result: what a pipe reads. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A remark for the person at the terminal; never in the way of a pipe. */
export function remark(text: string): void {
  process.stderr.write(`${paint('dim', printableLines(text), process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** What an error says under `--json`, as `{"error": …}`. */
export interface ErrorReport {
  /** One of the error table, or `usage`. */
  readonly code: string;
  readonly message: string;
  readonly field?: string;
}

/** Tells what went wrong and gives the exit code. */
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
  // The service's own messages for a human; its module is loaded only by the commands that need it.
  if (error.name === 'ConfigError') return { code: 'usage', message: error.message };
  if (error.name === 'ListenError') return { code: 'unavailable', message: error.message };
  if ('syscall' in error) return { code: 'usage', message: error.message };
  if ('errcode' in error)
    return { code: 'unavailable', message: `The database cannot be used: ${error.message}.` };
  return { code: 'internal', message: error.message };
}
