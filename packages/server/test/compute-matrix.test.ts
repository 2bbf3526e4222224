import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { payloadsOf, type Routed, startRouted } from './compute.ts';
import { everyProvider, MODELS_BY_PROVIDER, PROVIDER_KEYS } from './every-provider.ts';
import { type Column, FEATURES, type Feature, pageOf, type Verdict } from './matrix.ts';
import { withModels } from './models.ts';
import { SPOKEN, type Spoken } from './spoken.ts';
import { startUpstream, type Upstream } from './upstream.ts';

/** The protocols and providers by feature. `TALLY_WRITE_PROTOCOLS=1` writes it. */
const PAGE = new URL('../../../docs/protocols.md', import.meta.url);

const COLUMNS: readonly Column[] = [
  ...Object.entries(MODELS_BY_PROVIDER).map(([title, model]) => ({ title, model })),
  { title: 'built in', model: 'local/extract-1', ownAnswer: /7:40/ },
];

/** What is left out of a call that is answered all the same; by feature, providers and protocols, all protocols if none is named. */
interface Note {
  readonly feature: string;
  readonly titles: readonly string[];
  readonly protocols?: readonly Spoken['name'][];
  readonly note: string;
}

const OPENAI_LIKE = ['OpenAI', 'OpenAI-compatible', 'Azure'];

const NOTES: readonly Note[] = [
  {
    feature: 'reasoning',
    titles: ['Anthropic', 'Bedrock'],
    protocols: ['chat', 'responses'],
    note: 'An effort of reasoning is not sent, since only some of the models take one. Reasoning that comes back is passed on.',
  },
  {
    feature: 'reasoning',
    titles: OPENAI_LIKE,
    protocols: ['messages'],
    note: 'A budget of reasoning is not sent, since the API has none; `output_config.effort` is, for models with the ability `reasoning`. Reasoning that comes back is passed on.',
  },
  {
    feature: 'reasoning',
    titles: ['Ollama'],
    note: 'Reasoning is not asked for, and what the model reasons is counted and not passed on.',
  },
  { feature: 'reasoning', titles: ['built in'], note: 'The built-in model does not reason.' },
  {
    feature: 'cache marks',
    titles: [...OPENAI_LIKE, 'Gemini, Vertex', 'Ollama'],
    note: 'Cache marks are not sent: the provider caches by itself. Compression still leaves what precedes a mark as it is.',
  },
  { feature: 'cache marks', titles: ['built in'], note: 'The built-in model has no cache.' },
];

const folder = mkdtempSync(join(tmpdir(), 'tally-matrix-'));
const verdicts = new Map<string, Verdict>();
const keyOf = (...parts: readonly string[]): string => parts.join(' | ');
let upstream: Upstream;
let routed: Routed;

beforeAll(async () => {
  upstream = await startUpstream();
  const file = join(folder, 'catalogue.json');
  writeFileSync(file, JSON.stringify(withModels(everyProvider(upstream.url))));
  routed = await startRouted({ env: { TALLY_CONFIG: file, ...PROVIDER_KEYS } });
});
afterAll(async () => {
  await routed.close();
  await upstream.close();
  rmSync(folder, { recursive: true });
});

const CELLS = SPOKEN.flatMap((spoken) =>
  FEATURES.flatMap((feature) => COLUMNS.map((column) => ({ spoken, feature, column }))),
)
  .filter(({ spoken, feature }) => feature.asked[spoken.name] !== undefined)
  .map((cell) => ({ ...cell, name: keyOf(cell.spoken.name, cell.feature.name, cell.column.title) }));

describe('each feature in each protocol at each provider', () => {
  it.each(CELLS)('$name passes, is refused by name or is said', async ({ name, spoken, feature, column }) => {
    const verdict = await judge(spoken, feature, column);
    verdicts.set(name, verdict);
    await routed.expectBalanced();
    // A refusal that names no member, and a call that leaves something out without a note, throw.
    expect(['passes', 'refused', 'said']).toContain(verdict.kind);
  });

  it('is listed in docs/protocols.md', () => {
    const page = pageOf(SPOKEN, COLUMNS, (spoken, feature, { title }) => {
      return verdicts.get(keyOf(spoken.name, feature.name, title)) ?? null;
    });
    if (process.env['TALLY_WRITE_PROTOCOLS'] === '1') writeFileSync(PAGE, page);
    expect(readFileSync(PAGE, 'utf8'), 'run with TALLY_WRITE_PROTOCOLS=1').toBe(page);
  });
});

async function judge(
  spoken: Spoken,
  feature: Feature,
  { title, model, ownAnswer }: Column,
): Promise<Verdict> {
  const { path, request, textOf } = spoken;
  upstream.requests.length = 0;
  upstream.always(feature.script);
  const stream = feature.stream === true;
  const response = await routed.post(path, { model, ...request, ...feature.asked[spoken.name], stream });
  const answer = await response.text();
  if (response.status !== 200) {
    const { code, field } = JSON.parse(answer) as { code: string; field?: string };
    if (response.status !== 400 || field === undefined) throw new Error(`not refused by name: ${answer}`);
    return { kind: 'refused', code, field };
  }
  const shown = stream ? textOf(payloadsOf(answer)) : answer;
  const isPlain = feature.name === 'text' || stream;
  const sent = JSON.stringify(upstream.requests.map((one) => one.body));
  const passes =
    ownAnswer === undefined
      ? feature.sent.test(sent) && feature.answered.test(shown)
      : isPlain && ownAnswer.test(shown);
  if (passes) return { kind: 'passes' };
  const said = NOTES.find(
    ({ feature: name, titles, protocols = [spoken.name] }) =>
      name === feature.name && titles.includes(title) && protocols.includes(spoken.name),
  );
  if (said === undefined) throw new Error(`Something is left out in silence: ${sent} ${shown}`);
  return { kind: 'said', note: said.note };
}
