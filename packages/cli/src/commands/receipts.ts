import { existsSync } from 'node:fs';
import { DEFAULT_PROFILE, isObject, type JsonObject, PROFILES } from '@tallystick/core';
import { type Command, Option } from 'commander';
import { apiKeyOption, requireKey } from '../api-key.ts';
import { nameOf, readBytes, readJson } from '../input.ts';
import { UsageError } from '../output.ts';
import { checkedReceipt, type Destination, printAnchorHint, writeReceiptResult } from '../receipt-out.ts';
import { headerOption, serviceAt, urlOption } from '../service.ts';

interface Sending extends Destination {
  readonly url: string;
  readonly idempotencyKey?: string;
  readonly agent?: string;
  readonly anchor?: boolean;
  readonly apiKey?: string;
}

interface MintOptions extends Sending {
  readonly text?: string;
  readonly purpose: string;
  readonly policyHash?: string;
  readonly responseHash?: string;
  readonly responseSealed?: boolean;
}

interface EmitOptions extends Sending {
  readonly profile: string;
  readonly payload?: string;
  readonly text?: string;
  readonly sha256?: string;
  readonly purpose?: string;
  readonly contentType?: string;
  readonly failed?: boolean;
  readonly request?: string;
}

/** `tally mint` and `tally emit`: get receipts from a service. */
export function receiptCommands(program: Command): void {
  shared(
    program
      .command('mint')
      .summary('mint a free receipt for a text')
      .description(
        'Mints a free receipt. The service signs the SHA-256 of the input and does not keep the input.',
      )
      .argument('[file]', 'the input: a file, or - for standard input')
      .option('--text <text>', 'the input itself')
      .option('--purpose <purpose>', 'what the receipt is for', 'receipt')
      .option('--policy-hash <hash>', 'sha256:<hex> of the policy, as you declare it')
      .option('--response-hash <hash>', 'sha256:<hex> of the outcome, as you declare it')
      .option('--response-sealed', 'declare that the response is sealed'),
  )
    .addHelpText('after', MINT_HELP)
    .action(mint);

  shared(
    program
      .command('emit')
      .summary('emit a receipt of a chosen profile')
      .description(
        'Emits a receipt for a payload. Give exactly one of --payload, --text and --sha256, or a whole --request.',
      )
      .addOption(
        new Option('--profile <profile>', 'the profile, which sets size limit and retention')
          .choices([...PROFILES])
          .default(DEFAULT_PROFILE),
      )
      .option('--payload <file>', 'any JSON: a file, or - for standard input')
      .option('--text <text>', 'a text')
      .option('--sha256 <hex>', 'the SHA-256 of a payload that is not sent')
      .option('--purpose <purpose>', 'what the receipt is for')
      .option('--content-type <type>', 'the media type of the payload')
      .option('--failed', 'record a failure: ok is false')
      .option('--request <file>', 'the request body as JSON, for every other member'),
  )
    .addHelpText('after', EMIT_HELP)
    .action(async (options: EmitOptions) => {
      await send(
        `/v1/receipt/emit?profile=${encodeURIComponent(options.profile)}`,
        await emitBody(options),
        options,
      );
    });
}

const MINT_HELP = `
Examples:
  $ tally mint --text hello --out receipt.json
  $ tally mint notes.txt > receipt.json
  $ echo hello | tally mint - | tally verify -`;

const EMIT_HELP = `
Examples:
  $ tally emit --text "42 pallets moved" --profile nano
  $ echo '{"order":42}' | tally emit --payload - --out receipt.json
  $ tally emit --sha256 "$(sha256sum < model.bin | cut -c1-64)" \\
      --content-type application/octet-stream`;

function shared(command: Command): Command {
  return command
    .addOption(urlOption())
    .addOption(headerOption('--agent <did>', 'the DID of the calling agent'))
    .option('--anchor', 'anchor the receipt’s hash; needs an API key')
    .addOption(apiKeyOption())
    .option('--out <file>', 'write the receipt to a file')
    .addOption(headerOption('--idempotency-key <key>', 'the same key and request give the same receipt'))
    .option('--json', 'the receipt, indented; with --out, what was written');
}

async function mint(file: string | undefined, options: MintOptions): Promise<void> {
  const input = await inputText(file, options.text);
  const { purpose, policyHash, responseHash, responseSealed } = options;
  const declared = {
    ...(policyHash !== undefined && { policy_hash: policyHash }),
    ...(responseHash !== undefined && { response_hash: responseHash }),
    ...(responseSealed !== undefined && { response_sealed: responseSealed }),
  };
  await send('/v1/receipt/free', { input, purpose, ...declared }, options);
}

async function inputText(file: string | undefined, text: string | undefined): Promise<string> {
  if (text !== undefined && file === undefined) return text;
  if (file === undefined || text !== undefined) {
    throw new UsageError('Give the input either as a file, as - for standard input, or with --text.');
  }
  if (file !== '-' && !existsSync(file)) {
    throw new UsageError(
      `There is no file ${file}. For a receipt of that text itself: tally mint --text "${file}"`,
    );
  }
  const bytes = await readBytes(file);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(
      `${nameOf(file)} is not UTF-8 text. For other bytes, receipt their hash: tally emit --sha256 <hex>`,
      { code: 'json_not_utf8', cause },
    );
  }
}

async function emitBody(options: EmitOptions): Promise<JsonObject> {
  const payloads = [options.payload, options.text, options.sha256].filter((one) => one !== undefined);
  if (payloads.length > 1 || (payloads.length === 0 && options.request === undefined)) {
    throw new UsageError('Give exactly one of --payload, --text and --sha256, or a whole --request.');
  }
  const base = options.request === undefined ? {} : await readJson(options.request);
  if (!isObject(base)) throw new UsageError('--request takes a file with a JSON object.');
  const members = {
    ...(options.payload === undefined ? {} : { payload: await readJson(options.payload) }),
    ...(options.text === undefined ? {} : { input: options.text }),
    ...(options.sha256 === undefined ? {} : { payload_sha256: options.sha256 }),
    ...(options.purpose === undefined ? {} : { purpose: options.purpose }),
    ...(options.contentType === undefined ? {} : { content_type: options.contentType }),
    ...(options.failed ? { ok: false } : {}),
  };
  return { ...base, ...members };
}

async function send(path: string, content: JsonObject, options: Sending): Promise<void> {
  if (options.anchor) requireKey(options.apiKey);
  const body = options.anchor ? { ...content, anchor: true } : content;
  const { idempotencyKey } = options;
  const reply = await serviceAt(options.url, options).post(path, body, { idempotencyKey });
  const receiptId = await checkedReceipt(reply.json, options.url);
  writeReceiptResult({ text: reply.text, receiptId, check: (file) => `tally verify ${file}` }, options);
  printAnchorHint(options);
}
