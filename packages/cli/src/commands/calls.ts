import type { CallDetail, CallRow, ListCallsAnswer } from '@tallystick/sdk';
import { type Command, Option } from 'commander';
import { apiKeyOption, requireKey } from '../api-key.ts';
import { paint, print, printJson, remark } from '../output.ts';
import { printable } from '../printable.ts';
import { serviceAt, urlOption } from '../service.ts';

const PATH = '/v1/compute/calls';

interface Asked {
  readonly url: string;
  readonly apiKey?: string;
  readonly json?: boolean;
}

/** What calls are looked for by, under the names of the options. */
type Filters = Readonly<Record<string, string>>;

/** Options of the filters, with the parameters that they stand for and what they say. */
const FILTERS = [
  ['--model <id>', 'model', 'the model that answered'],
  ['--provider <name>', 'provider', 'its provider'],
  ['--status <status>', 'status', 'an HTTP status, ok, or error'],
  ['--error-code <code>', 'error_code', 'the code of the error'],
  ['--min-cost <usdc>', 'min_cost', 'the least that a call cost'],
  ['--max-cost <usdc>', 'max_cost', 'the most that a call cost'],
  ['--tag <name:value>', 'tag', 'a tag of svc.tags'],
  ['--session <id>', 'session', 'the svc.session'],
  ['--did <did>', 'did', 'the DID that made the call'],
  ['--key <id>', 'key', 'the id of an API key: key_…'],
] as const;

const PERIOD = [
  ['--from <time>', 'from', 'not before this time: RFC 3339 or Unix seconds'],
  ['--to <time>', 'to', 'before this time'],
] as const;

/** `tally calls`: the calls of models that were made with an API key. */
export function callCommands(program: Command): void {
  const calls = program
    .command('calls')
    .summary('list, export and follow the calls of your API key')
    .description('Shows the calls of models that were made with your API key, failed ones too.')
    .addHelpText('after', HELP);

  asking(filtered(calls.command('list').summary('list calls, newest first'), true))
    .description('Lists calls, newest first: 50 unless --limit says how many.')
    .option('--limit <n>', 'the most calls to list: 1 to 1000')
    .option('--cursor <text>', 'go on after a page: its next_cursor')
    .action((options: Asked & Filters) => list(options));

  asking(
    calls
      .command('show')
      .summary('show one call')
      .description('Shows one call: its times, its route and its bill.')
      .argument('<id>', 'the id of the call: of its receipt, or call_…'),
  ).action(show);

  asking(filtered(calls.command('export').summary('write every call to standard output'), true))
    .description('Writes every call that matches to standard output, of any number.')
    .addOption(new Option('--format <format>', 'of the file').choices(['ndjson', 'csv']).default('ndjson'))
    .action((options: Asked & Filters) => exportCalls(options));

  asking(filtered(calls.command('tail').summary('follow calls as they end'), false))
    .description('Prints each call as it ends, a second or two later, until it is interrupted.')
    .action((options: Asked & Filters) => tail(options));
}

const HELP = `
Examples:
  $ export TALLY_API_KEY=$(cat my-key)
  $ tally calls list --status error --from 2027-03-01T00:00:00Z
  $ tally calls tail --tag team:search
  $ tally calls export --format csv > calls.csv`;

function filtered(command: Command, hasPeriod: boolean): Command {
  for (const [flags, , description] of hasPeriod ? [...PERIOD, ...FILTERS] : FILTERS)
    command.option(flags, description);
  return command;
}

function asking(command: Command): Command {
  return command.addOption(apiKeyOption()).addOption(urlOption()).option('--json', 'as JSON');
}

const serviceOf = ({ url, apiKey }: Asked) => serviceAt(url, { apiKey: requireKey(apiKey, 'This list') });

/** The path with the parameters that the options give. */
function pathOf(path: string, options: Asked & Filters, more: Readonly<Record<string, string>> = {}): string {
  const given = [...PERIOD, ...FILTERS].flatMap(([flags, name]) => {
    const value = options[optionOf(flags)];
    return value === undefined ? [] : [[name, value]];
  });
  const query = new URLSearchParams([...given, ...Object.entries(more)] as [string, string][]).toString();
  return query === '' ? path : `${path}?${query}`;
}

/** Commander's name for an option: `--min-cost <usdc>` is minCost. */
function optionOf(flags: string): string {
  const [name = ''] = flags.slice('--'.length).split(' ');
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

async function list(options: Asked & Filters): Promise<void> {
  const { limit, cursor } = options as Filters;
  const page = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
  const { json } = await serviceOf(options).get<ListCallsAnswer>(pathOf(PATH, options, page));
  if (options.json) return printJson(json);
  for (const call of json.data) print(lineOf(call));
  if (json.data.length === 0) remark('No call matches.');
  if (json.next_cursor !== null) remark(`There are more: --cursor ${json.next_cursor}`);
}

async function show(id: string, options: Asked): Promise<void> {
  const { json: call } = await serviceOf(options).get<CallDetail>(`${PATH}/${encodeURIComponent(id)}`);
  if (options.json) return printJson(call);
  print(lineOf(call));
  const tokens = `${call.prompt_tokens ?? '–'} in, ${call.completion_tokens ?? '–'} out`;
  const facts: [string, string | null][] = [
    ['receipt', call.receipt_id],
    ['asked for', call.requested_model],
    ['route', call.route_reason],
    ['tokens', tokens],
    ['cost', `${call.cost_usdc} USDC; compression saved ${call.saving_usdc}`],
    ['session', call.session],
    [
      'tags',
      Object.entries(call.tags)
        .map(([name, value]) => `${name}:${value}`)
        .join(' ') || null,
    ],
    ...call.timeline.map(({ step, at_ms, ms }): [string, string] => [step, `at ${at_ms} ms, for ${ms} ms`]),
    ...call.tries.map(({ model, kind }): [string, string] => ['failed try', `${model}: ${kind}`]),
  ];
  for (const [name, value] of facts) if (value !== null) print(`  ${name.padEnd(11)} ${printable(value)}`);
}

async function exportCalls(options: Asked & Filters): Promise<void> {
  const { format = 'ndjson' } = options as Filters;
  const accept = format === 'csv' ? 'text/csv' : 'application/x-ndjson';
  const lines = serviceOf(options).lines(pathOf(PATH, options, { format }), accept, { timeoutMs: 120_000 });
  for await (const line of lines) await written(`${line}\n`);
}

/** Waits for whoever reads standard output, so that a file of any length takes little memory. */
function written(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

async function tail(options: Asked & Filters): Promise<void> {
  const service = serviceOf(options);
  // The service ends a live list after 15 minutes.
  for (;;) {
    for await (const line of service.lines(pathOf(`${PATH}/live`, options), 'text/event-stream')) {
      if (!line.startsWith('data: ')) continue;
      const text = line.slice('data: '.length);
      print(options.json ? text : lineOf(JSON.parse(text) as CallRow));
    }
  }
}

function lineOf(call: CallRow): string {
  const {
    at,
    id,
    status,
    model,
    requested_model: asked,
    cost_usdc: cost,
    total_ms: ms,
    error_code: code,
  } = call;
  const took = ms === null ? '' : `  ${ms} ms`;
  const line = `${at}  ${id}  ${status}  ${printable(model ?? asked)}  ${cost} USDC${took}`;
  return code === null ? line : `${line}  ${paint('red', printable(code))}`;
}
