import { shortMoney } from '../../format/money.ts';
import { percent } from '../../format/number.ts';
import type { CallDetail, Routing, RoutingInputs, Score } from './documents.ts';

const WHY: Readonly<Record<string, string>> = {
  explicit: 'The request names this model, so there was nothing to choose.',
  session: 'The session was answered by this model before, and a session keeps its model.',
  only_candidate: 'No other model could take the request.',
  provider_order: 'The request puts this provider first.',
  low_margin:
    'It is the best model for requests of this kind, and no other one is better by enough for this request.',
  best_score: 'It has the highest score: the chance of a right answer, less what the cost weighs.',
  strategy: 'It is the first by what the request sorts models by.',
  balance: 'The first choice costs more than the balance covers. This is the best one that it does cover.',
};

/** Why the model was chosen, in a sentence. */
export function whyOf({ inputs, outcome }: Routing): string {
  const sort = inputs.strategy?.sort;
  if (outcome.why === 'strategy' && sort !== undefined)
    return `It is the first of the models that can take the request, sorted by ${sort}.`;
  return WHY[outcome.why] ?? outcome.why;
}

/** What the choice was made from, name and value. */
export function factsOf({ inputs, outcome }: Routing): (readonly [name: string, value: string])[] {
  const { strategy, difficulty } = { ...inputs, ...outcome };
  const tokens = inputs.prompt_tokens.toLocaleString('en');
  const limit = inputs.max_output_tokens;
  return [
    ['Asked for', inputs.requested === 'auto' ? 'any model (auto)' : inputs.requested],
    [
      'Size',
      `about ${tokens} tokens of prompt${limit === 0 ? '' : `, ${limit.toLocaleString('en')} at most for the answer`}`,
    ],
    ...(inputs.needs.length === 0
      ? []
      : [['Needs', inputs.needs.map((need) => NEEDS[need] ?? need).join(', ')] as const]),
    ...(inputs.requested === 'auto'
      ? [['Kind', inputs.domain] as const, ['Cost or quality', costQualityOf(inputs)] as const]
      : []),
    ...(difficulty === null
      ? []
      : [
          [
            'Difficulty',
            `a weak model is expected to answer ${percent(difficulty.weak)} of such prompts right, a strong one ${percent(Math.min(1, difficulty.weak + difficulty.gain))}`,
          ] as const,
        ]),
    ...(strategy?.budget === undefined
      ? []
      : [
          [
            'Budget of the day',
            `${shortMoney(usdcOf(strategy.budget.per_day))}, of which ${shortMoney(usdcOf(strategy.budget.spent))} were spent`,
          ] as const,
        ]),
    ...(inputs.comparison === undefined
      ? []
      : [['Comparison', `${inputs.comparison.name}, arm ${inputs.comparison.arm}`] as const]),
    ...(inputs.bandit === undefined
      ? []
      : [['Ratings', 'your ratings steer the choice, by a seed that is recorded'] as const]),
  ];
}

function costQualityOf({ cost_quality: value }: RoutingInputs): string {
  return `${value} on the scale from 0, the cheapest that is worth its price, to 10, the best at any price`;
}

/** What a request may need, as a thing. */
const NEEDS: Readonly<Record<string, string>> = {
  tools: 'tools',
  vision: 'images',
  json: 'a JSON mode',
  logprobs: 'log probabilities',
  stream: 'streaming',
  choices: 'several choices',
  files: 'files',
  audio: 'sound',
  forced_tools: 'a tool that must be called',
  other_tools: 'tools other than functions',
  responses: 'the Responses API of its provider',
  messages: 'the Messages API of its provider',
};

/** Why models were left out: what stands before their names. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  retired: 'Shut down by their providers',
  outdated_price: 'Prices too old to bill by',
  provider: 'Left out by the request’s provider settings',
  price: 'Dearer than the request allows',
  context: 'Prompt and answer do not fit',
  health: 'Given a rest after failures',
  rate_limit: 'No calls left at the provider for now',
  built_in: 'Built into this service, and used only where named',
  budget: 'Too dear for what is left of the day’s budget',
  dimensions: 'No vectors of the length asked for',
};

/** What stands before the models that were left out for one reason. */
export function leftOutOf(reason: string): string {
  const need = NEEDS[reason];
  return LEFT_OUT[reason] ?? (need === undefined ? reason : `No support for ${need}`);
}

/** A model that could take the request, with what speaks for and against it beside the one that was chosen. */
export interface Contender {
  readonly score: Score;
  readonly role: 'chosen' | 'fallback' | 'other' | 'unaffordable';
  readonly words: string;
}

/** The models that could take the request: the chosen one first, then the fallbacks in their order, then by score. */
export function contendersOf({ inputs, outcome }: Pick<Routing, 'inputs' | 'outcome'>): Contender[] {
  const { model: chosen, fallbacks, scores } = outcome;
  const order = [chosen, ...fallbacks];
  const placeOf = ({ model }: Score): number => (order.includes(model) ? order.indexOf(model) : order.length);
  const mine = scores.find(({ model }) => model === chosen);
  return scores
    .filter(({ excluded, score }) => excluded === null && score !== null)
    .toSorted((one, other) => placeOf(one) - placeOf(other) || (other.score ?? 0) - (one.score ?? 0))
    .map((score): Contender => {
      if (score.model === chosen) return { score, role: 'chosen', words: '' };
      const words = mine === undefined ? '' : compared(score, mine);
      if (inputs.unaffordable.includes(score.model)) return { score, role: 'unaffordable', words };
      return { score, role: fallbacks.includes(score.model) ? 'fallback' : 'other', words };
    });
}

/** What speaks for and against a model beside the chosen one. */
function compared(one: Score, chosen: Score): string {
  const points = Math.round(((one.quality ?? 0) - (chosen.quality ?? 0)) * 1_000) / 10;
  const quality =
    points === 0
      ? 'As often right'
      : `Right ${Math.abs(points)} ${Math.abs(points) === 1 ? 'point' : 'points'} ${points > 0 ? 'more' : 'less'} often`;
  const [mine, other] = [Number(chosen.expected_cost ?? 0), Number(one.expected_cost ?? 0)];
  return `${quality}, ${costCompared(mine, other)}.`;
}

function costCompared(chosen: number, other: number): string {
  if (other === chosen) return 'at the same cost';
  if (chosen === 0 || other === 0) return other === 0 ? 'and free' : 'and not free';
  const factor = other / chosen;
  if (factor >= 2) return `at ${rounded(factor)} times the cost`;
  if (factor <= 0.5) return `at ${percent(factor)} of the cost`;
  return `${percent(Math.abs(factor - 1))} ${factor > 1 ? 'dearer' : 'cheaper'}`;
}

const rounded = (factor: number): string => (factor < 10 ? factor.toFixed(1) : factor.toFixed(0));

/** Models that were left out, by reason; the reason of the most models last. */
export function excludedBy({ scores }: Routing['outcome']): (readonly [reason: string, models: string[]])[] {
  const out = scores.filter(({ excluded }) => excluded !== null);
  const groups = Map.groupBy(out, ({ excluded }) => excluded ?? '');
  return [...groups]
    .map(([reason, members]) => [reason, members.map(({ model }) => model)] as const)
    .toSorted(([, one], [, other]) => one.length - other.length);
}

/** What became of the choice: which models failed before another one answered; null where the first try went well. */
export function afterwardsOf({ tries, answered, model, error_code }: CallDetail): string | null {
  if (tries.length === 0) return null;
  const failed = [...new Set(tries.map((one) => one.model))].join(', then ');
  const times = tries.length === 1 ? 'once' : `${tries.length} times`;
  const served = answered?.model ?? (error_code === null ? model : null);
  if (served === null) return `The try of ${failed} failed ${times}, and no other model answered.`;
  return tries.every((one) => one.model === served)
    ? `${served} failed ${times}, was asked again, and answered.`
    : `${failed} failed ${times}, so ${served} was asked, and answered.`;
}

/** Nano-USDC in decimal digits as decimal USDC. */
export function usdcOf(nano: string): string {
  const digits = nano.padStart(10, '0');
  return `${digits.slice(0, -9)}.${digits.slice(-9)}`;
}
