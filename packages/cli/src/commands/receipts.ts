import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { canonicalize, type JsonObject, PROFILES, utf8 } from '@tallystick/core';
import { call, DEFAULT_URL } from '../client.ts';
import { readBytes, readJson } from '../input.ts';
import { print, printJson, remark, UsageError } from '../output.ts';

interface Sending {
  readonly url: string;
  readonly out?: string;
  readonly idempotencyKey?: string;
  readonly agent?: string;
  readonly json?: boolean;
}

/** `tally mint` and `tally emit`: receipts from a service. */
export function receiptCommands(program: Command): void {
  shared(program.command('mint'))
    .summary('mint a free receipt for a text')
    .description('Mints a free receipt. The service signs the SHA-256 of the input and does not keep the input.')
    .argument('[file]', 'the input: a file, or - for standard input')
    .option('--text <text>', 'the input itself')
    .option('--purpose <purpose>', 'what the receipt is for', 'receipt')
    .action(async (file: string | undefined, options: Sending & { text?: string; purpose: string }) => {
      const input = await inputText(file, options.text);
      await send('/v1/receipt/free', { input, purpose: options.purpose }, options);
    });

  shared(program.command('emit'))
    .summary('emit a receipt of a profile')
    .description('Emits a receipt for a payload. Give exactly one of --payload, --text and --sha256.')
    .option('--profile <profile>', PROFILES.join(', '), 'standard')
    .option('--payload <file>', 'any JSON: a file, or - for standard input')
    .option('--text <text>', 'a text')
    .option('--sha256 <hex>', 'the SHA-256 of a payload that stays here')
    .option('--purpose <purpose>', 'what the receipt is for')
    .option('--content-type <type>', 'the media type of the payload')
    .option('--failed', 'receipt a failure: ok is false')
    .option('--request <file>', 'the whole request body as JSON, for every other member')
    .action(async (options: Sending & EmitOptions) => {
      await send(`/v1/receipt/emit?profile=${encodeURIComponent(options.profile)}`, await emitBody(options), options);
    });
}

interface EmitOptions {
  readonly profile: string;
  readonly payload?: string;
  readonly text?: string;
  readonly sha256?: string;
  readonly purpose?: string;
  readonly contentType?: string;
  readonly failed?: boolean;
  readonly request?: string;
}

function shared(command: Command): Command {
  return command
    .option('--url <url>', 'the service', process.env.TALLY_URL ?? DEFAULT_URL)
    .option('--agent <did>', 'the DID of the calling agent')
    .option('--out <file>', 'write the receipt to a file')
    .option('--idempotency-key <key>', 'the same key and request give the same receipt')
    .option('--json', 'the receipt, indented');
}

async function inputText(file: string | undefined, text: string | undefined): Promise<string> {
  if ((file === undefined) === (text === undefined)) {
    throw new UsageError('Give the input as a file, as - for standard input, or with --text.');
  }
  if (text !== undefined) return text;
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readBytes(file ?? '-'));
}

async function emitBody(options: EmitOptions): Promise<JsonObject> {
  const base = options.request === undefined ? {} : ((await readJson(options.request)) as JsonObject);
  const given: [string, JsonObject[string] | undefined][] = [
    ['payload', options.payload === undefined ? undefined : await readJson(options.payload)],
    ['input', options.text],
    ['payload_sha256', options.sha256],
    ['purpose', options.purpose],
    ['content_type', options.contentType],
    ['ok', options.failed ? false : undefined],
  ];
  const members = given.filter((entry): entry is [string, JsonObject[string]] => entry[1] !== undefined);
  return { ...base, ...Object.fromEntries(members) };
}

async function send(path: string, body: JsonObject, options: Sending): Promise<void> {
  const headers = {
    ...(options.agent === undefined ? {} : { 'x-agent-did': options.agent }),
    ...(options.idempotencyKey === undefined ? {} : { 'idempotency-key': options.idempotencyKey }),
  };
  const { text } = await call(options.url, path, { body: canonicalize(body), headers });
  if (options.out !== undefined) {
    writeFileSync(options.out, `${text}\n`);
    remark(`Wrote ${utf8(text).length} bytes to ${options.out}. Check them with: tally verify ${options.out}`);
  } else if (options.json) printJson(JSON.parse(text));
  else print(text);
}
