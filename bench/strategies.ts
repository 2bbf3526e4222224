import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Example, readRoutingData } from '../scripts/routing/data.ts';
import { readLevels } from '../scripts/routing/levels.ts';
import { PAIR } from './graded-pair.ts';
import { pinned, readyUrl, SERVE, stop } from './processes.ts';
import type { Report, Row } from './report.ts';
import { startStub } from './strategies-stub.ts';
import { unlessMissing } from './unless-missing.ts';

const PROMPTS = 200;
const MODELS = {
  ...PAIR,
  middle: { input: '0.4', output: '1.6', prior: { general: 0.78, mathematics: 0.8 } },
} as const;
type Name = keyof typeof MODELS;
const ALL = ['strong', 'middle', 'cheap'] as const satisfies readonly Name[];
const GRADED = ['strong', 'cheap'] as const satisfies readonly Name[];

/** Members of a call beside its prompt, by the name of their row. */
const STRATEGIES: Readonly<Record<string, object>> = {
  'balanced, cost_quality 0': { cost_quality: 0 },
  'balanced, cost_quality 3': { cost_quality: 3 },
  'balanced, cost_quality 5': { cost_quality: 5 },
  'balanced, cost_quality 7': { cost_quality: 7 },
  'balanced, cost_quality 10': { cost_quality: 10 },
  'sort price': { provider: { sort: 'price' } },
  'sort quality': { provider: { sort: 'quality' } },
  'best under 0.001 USDC a call': { provider: { sort: 'quality', max_price: { request: '0.001' } } },
};

interface Prompt {
  readonly text: string;
  /** Whether each graded model answered right, 0 or 1; absent where nobody graded it. */
  readonly right?: Readonly<Record<'strong' | 'cheap', number>>;
}

interface Set {
  readonly name: string;
  readonly models: readonly Name[];
  readonly prompts: readonly Prompt[];
}

interface Called {
  readonly model: Name;
  /** Nano-USDC that the service charged. */
  readonly charge: number;
}

/** Sends prompts through a service with three priced providers, by each strategy, and adds up what it charged. */
export async function strategies(): Promise<Report> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tally-bench-'));
  const stub = await startStub();
  const config = join(dataDir, 'models.json');
  writeFileSync(config, JSON.stringify(catalogue(stub.url)));
  const service = pinned(SERVE, {
    PORT: '0',
    TALLY_DATA_DIR: dataDir,
    TALLY_DEVNET: 'off',
    TALLY_CONFIG: config,
  });
  try {
    const url = `${await readyUrl(service)}/v1/compute/chat/completions`;
    const rows: Row[] = [];
    const { found: graded, missing } = unlessMissing(() => [gradedSet()]);
    for (const set of [openSet(), ...graded]) rows.push(...(await measured(url, set)));
    const title = 'Strategies of routing: what 200 calls cost, and whom they go to';
    return { title, method: METHOD, rows, missing };
  } finally {
    await stop(service);
    await stub.close();
    rmSync(dataDir, { recursive: true });
  }
}

const METHOD = [
  'A service with three local providers: strong 3/15, middle 0.40/1.60, cheap 0.05/0.20 USDC for 1,000,000 tokens. Each answers at once, with 200 tokens.',
  'Open: every third of 300 prompts in ten families and its neighbour, 200 in all; nobody graded answers to them, so cost alone.',
  'Graded: 100 of MMLU and 100 of GSM8K, evenly spaced (lm-sys/RouteLLM), between the two models that were graded.',
  'What is charged is the sum of svc.billing. Random: the mean of always each model.',
  'The shipped weights were trained on the graded sets: their rows show what is traded for what, not how well the router does on what it has not seen; `npm run bench -- routing` does.',
].join('\n');

function catalogue(baseUrl: string): object {
  return {
    providers: ALL.map((name) => ({ name, kind: 'openai', base_url: baseUrl })),
    models: ALL.map((name) => ({
      id: `${name}/model`,
      context: 128_000,
      max_output: 4_096,
      abilities: ['stream'],
      price: { input: MODELS[name].input, output: MODELS[name].output },
      prior: MODELS[name].prior,
    })),
  };
}

function openSet(): Set {
  const open = readLevels().filter((_, index) => index % 3 < 2);
  return { name: 'open', models: ALL, prompts: open.map(({ prompt }) => ({ text: prompt })) };
}

/** @throws MissingData */
function gradedSet(): Set {
  const { mmlu, gsm8k } = readRoutingData();
  const graded = [...spaced(mmlu, PROMPTS / 2), ...spaced(gsm8k, PROMPTS / 2)];
  return {
    name: 'graded',
    models: GRADED,
    prompts: graded.map(({ prompt, strong, weak }) => ({ text: prompt, right: { strong, cheap: weak } })),
  };
}

function spaced(examples: readonly Example[], count: number): Example[] {
  return Array.from(
    { length: count },
    (_, at) => examples[Math.floor((at * examples.length) / count)],
  ).flatMap((example) => example ?? []);
}

async function measured(url: string, set: Set): Promise<Row[]> {
  const { name, models, prompts } = set;
  const only = models.map((model) => `${model}/model`);
  const call = async (members: Members, headers = {}): Promise<Called[]> => {
    const called: Called[] = [];
    // One after the other, since a budget counts what was billed before.
    for (const { text } of prompts)
      called.push(await sent(url, text, { ...members, provider: { only, ...members.provider } }, headers));
    return called;
  };
  const always: (readonly [Name, Called[]])[] = [];
  for (const model of models) always.push([model, await call({ model: `${model}/model` })]);
  const most = costOf(always[0]?.[1] ?? []);
  const row = (strategy: string, calls: readonly Called[]): Row =>
    rowOf(`${name}, ${strategy}`, calls, set, most);
  const rows = [
    ...always.map(([model, calls]) => row(`always ${model}`, calls)),
    randomRow(set, always, most),
  ];
  for (const [strategy, members] of Object.entries(STRATEGIES)) rows.push(row(strategy, await call(members)));
  const daily_budget = (most / 2e9).toFixed(9);
  const spending = { 'x-agent-did': `did:svc:bench-${name}` };
  const budgeted = await call({ provider: { sort: 'quality', daily_budget } }, spending);
  return [...rows, row('sort quality, half of that a day', budgeted)];
}

interface Members {
  readonly model?: string;
  readonly provider?: object;
}

interface Answer {
  readonly svc: {
    readonly served: { readonly provider: Name };
    readonly billing: { readonly charge: { readonly nano: string } };
  };
}

async function sent(url: string, text: string, members: Members, headers: object): Promise<Called> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: text }], max_tokens: 1_000, ...members }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  const { svc } = (await answer.json()) as Answer;
  return { model: svc.served.provider, charge: Number(svc.billing.charge.nano) };
}

function costOf(calls: readonly Called[]): number {
  return calls.reduce((sum, { charge }) => sum + charge, 0);
}

function rowOf(name: string, calls: readonly Called[], { models, prompts }: Set, most: number): Row {
  const counts = models.map((model) => `${calls.filter((call) => call.model === model).length} ${model}`);
  const right = rightOf(calls, prompts);
  const quality = right === null ? '' : `; ${(100 * right).toFixed(1)} % right`;
  return { name, value: costOf(calls) / most, unit: `of always strong: ${counts.join(', ')}${quality}` };
}

/** What a choice by lot costs and gets right on average. */
function randomRow(
  { name, prompts }: Set,
  always: readonly (readonly [Name, readonly Called[]])[],
  most: number,
): Row {
  const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
  const rights = always.flatMap(([, calls]) => rightOf(calls, prompts) ?? []);
  const quality = rights.length === 0 ? '' : `; ${(100 * mean(rights)).toFixed(1)} % right`;
  const value = mean(always.map(([, calls]) => costOf(calls))) / most;
  return { name: `${name}, random`, value, unit: `of always strong${quality}` };
}

/** Share of right answers; null where they were not graded. */
function rightOf(calls: readonly Called[], prompts: readonly Prompt[]): number | null {
  let right = 0;
  for (const [index, { model }] of calls.entries()) {
    const grade = model === 'middle' ? undefined : prompts[index]?.right?.[model];
    if (grade === undefined) return null;
    right += grade;
  }
  return right / calls.length;
}
