import {
  EXIT,
  type Exit,
  paint,
  print,
  printable,
  printJson,
  readJson,
  UsageError,
} from '@tallystick/cli/toolkit';
import { isObject, type JsonValue } from '@tallystick/core';
import {
  explainRequest,
  type Replay,
  type RouteExplanation,
  replay,
  type ScoreRecord,
} from '@tallystick/inference';
import { formatUsdc } from '@tallystick/ledger';
import { readConfig } from '../../config/config.ts';

/** @throws UsageError, TallyError where the file holds no decision and no request */
export async function explainRoute(
  path: string,
  options: { readonly config?: string; readonly json?: boolean },
): Promise<Exit> {
  const document = await readJson(path);
  const request = isObject(document) && 'messages' in document;
  const result = request ? decideRequest(document, options.config) : replay(recordIn(document));
  if (options.json === true)
    printJson({ same: result.same, differences: result.differences, outcome: result.outcome });
  else
    print(
      [...heading(result.recorded, result), '', ...table(result), '', verdict(result, request)].join('\n'),
    );
  return result.same ? EXIT.ok : EXIT.failed;
}

/** @throws ConfigError where the configuration of this machine has faults, read as in development */
function decideRequest(request: JsonValue, file = process.env['TALLY_CONFIG']): Replay {
  const { compute } = readConfig({ ...process.env, NODE_ENV: 'development', TALLY_CONFIG: file });
  return explainRequest(request, compute.environment, compute.catalogue);
}

/** The explanation of a decision, given alone, in an answer or in a row of the list of calls. @throws UsageError where an answer has only its outcome */
function recordIn(document: JsonValue): JsonValue {
  if (!isObject(document)) return document;
  const svc = isObject(document['svc']) ? document['svc'] : document;
  const routing = svc['routing'] ?? document;
  if (isObject(routing) && 'outcome' in routing && !('inputs' in routing)) throw new UsageError(SHORT);
  return routing;
}

const SHORT =
  'The answer has only the outcome. Give `tally calls show <receipt id> --json`, or the answer to a call with "svc": {"explain": true}.';

const WHY: Readonly<Record<Replay['outcome']['why'], string>> = {
  explicit: 'the request names it',
  session: 'the session is pinned to it',
  only_candidate: 'no other model can take the request',
  provider_order: 'the request puts its provider first',
  low_margin: 'no other model beats the best single one by the margin',
  best_score: 'its score is the highest',
  strategy: 'it is the first by what the strategy sorts by',
  balance: 'the balance does not cover the model that would be chosen',
};

const BASIS = {
  graded: 'from graded answers to such prompts',
  construction: 'from what the text demands, with assumed chances',
};

function heading({ inputs }: RouteExplanation, { outcome }: Replay): string[] {
  const { difficulty, model, why, fallbacks } = outcome;
  const read =
    difficulty === null
      ? 'not estimated from the prompt: only the priors of the domain'
      : `${BASIS[difficulty.basis ?? 'graded']}: a weak model is right in ${percent(difficulty.weak)}, a strong one is better by ${percent(difficulty.gain)}`;
  return [
    `${paint('bold', printable(model))}: ${WHY[why]}`,
    `  asked for    ${printable(inputs.requested)}${inputs.needs.length > 0 ? `, needs ${inputs.needs.join(', ')}` : ''}`,
    `  sizes        ${inputs.prompt_tokens} prompt tokens, ${inputs.max_output_tokens === 0 ? 'no limit for the answer' : `${inputs.max_output_tokens} for the answer`}`,
    `  cost_quality ${inputs.cost_quality}`,
    ...strategyLines(inputs),
    `  domain       ${inputs.domain}`,
    `  difficulty   ${read}`,
    ...(inputs.unaffordable.length === 0
      ? []
      : [`  too costly   ${inputs.unaffordable.map(printable).join(', ')}`]),
    `  fallbacks    ${fallbacks.length === 0 ? 'none' : fallbacks.map(printable).join(', ')}`,
  ];
}

function strategyLines({ strategy, max_price }: RouteExplanation['inputs']): string[] {
  const usdc = (nano: string): string => `${formatUsdc(BigInt(nano))} USDC`;
  const { request } = max_price;
  return [
    ...(strategy === undefined ? [] : [`  sorted by    ${strategy.sort}`]),
    ...(request === undefined ? [] : [`  at most      ${usdc(request)} for the call`]),
    ...(strategy?.budget === undefined
      ? []
      : [
          `  day's budget ${usdc(strategy.budget.per_day)}, of which ${usdc(strategy.budget.spent)} are spent`,
        ]),
  ];
}

function table({ outcome: { scores, model, best_single } }: Replay): string[] {
  const width = Math.max(5, ...scores.map((score) => printable(score.model).length));
  const sorted = scores.toSorted((a, b) => (b.score ?? -Infinity) - (a.score ?? -Infinity));
  return [
    paint('dim', `  ${'model'.padEnd(width)}  quality    cost (USDC)   score`),
    ...sorted.map((score) => {
      const mark = score.model === model ? '>' : ' ';
      const note = score.model === best_single ? '  best single' : '';
      return `${mark} ${printable(score.model).padEnd(width)}  ${cells(score)}${note}`;
    }),
  ];
}

function cells({ excluded, quality, expected_cost, score }: ScoreRecord): string {
  if (quality === null || expected_cost === null || score === null) return `out: ${excluded ?? 'no score'}`;
  const cost = formatUsdc(BigInt(expected_cost));
  return `${quality.toFixed(3).padStart(7)}  ${cost.padStart(13)}  ${score.toFixed(3).padStart(6)}`;
}

function verdict({ same, differences }: Replay, request: boolean): string {
  if (request) return paint('dim', 'Decided here, with every model taken as healthy. Nothing was sent.');
  if (same) return paint('green', 'The recorded inputs lead to the recorded outcome.');
  return paint(
    'red',
    `The recorded outcome differs from what the recorded inputs lead to: ${differences.join(', ')}.`,
  );
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)}%`;
}
