import { styleText } from 'node:util';
import { TallyError } from '@tallystick/core';

type Style = 'green' | 'red' | 'yellow' | 'dim' | 'bold';

/** How a command ends: 0 done (valid and trusted), 1 failed (invalid), 2 wrong usage, 3 intact but not trusted. */
export const EXIT = { ok: 0, failed: 1, usage: 2, untrusted: 3 } as const;
export type Exit = (typeof EXIT)[keyof typeof EXIT];

/** A mistake in how the command was called. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Coloured only on a terminal, and not where NO_COLOR asks for none. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** A result: what a pipe reads. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A remark for the person at the terminal; never in the way of a pipe. */
export function remark(text: string): void {
  process.stderr.write(`${paint('dim', text, process.stderr)}\n`);
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2));
}

/** Tells what went wrong and gives the exit code. */
export function explain(error: unknown, json: boolean): Exit {
  const { code, message, field } = describe(error);
  if (json) printJson({ error: { code, message, ...(field === undefined ? {} : { field }) } });
  else process.stderr.write(`${paint('red', `tally: ${message}`, process.stderr)} ${paint('dim', `(${code})`, process.stderr)}\n`);
  return code === 'usage' ? EXIT.usage : EXIT.failed;
}

function describe(error: unknown): { code: string; message: string; field?: string | undefined } {
  if (error instanceof TallyError) return { code: error.code, message: error.message, field: error.field };
  if (error instanceof UsageError) return { code: 'usage', message: error.message };
  if (!(error instanceof Error)) return { code: 'internal', message: String(error) };
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR') return { code: 'usage', message: error.message };
  return { code: 'internal', message: error.message };
}
