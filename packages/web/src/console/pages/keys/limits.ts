import { shortMoney } from '../../format/money.ts';
import { counted, shortCount } from '../../format/number.ts';
import type { Limits } from './documents.ts';

/** Limits as they stand in a form: texts as typed, empty for none. */
export interface LimitsForm {
  readonly day_usdc: string;
  readonly month_usdc: string;
  readonly requests_per_minute: string;
  readonly tokens_per_minute: string;
  readonly models: readonly string[];
  readonly providers: readonly string[];
  readonly prompt: string;
  readonly completion: string;
  readonly request: string;
}

export function formOf({ max_price: price, ...limits }: Limits): LimitsForm {
  const text = (value: string | number | null | undefined): string => String(value ?? '');
  return {
    day_usdc: text(limits.day_usdc),
    month_usdc: text(limits.month_usdc),
    requests_per_minute: text(limits.requests_per_minute),
    tokens_per_minute: text(limits.tokens_per_minute),
    models: limits.models ?? [],
    providers: limits.providers ?? [],
    prompt: text(price?.prompt),
    completion: text(price?.completion),
    request: text(price?.request),
  };
}

/** The members to send: null takes a limit away. What is no number is sent as it is, for the service to refuse. */
export function limitsOf(form: LimitsForm): Record<string, unknown> {
  const money = (text: string): string | null => (text.trim() === '' ? null : text.trim());
  const number = (text: string): number | string | null =>
    /^\d{1,15}$/.test(text.trim()) ? Number(text) : money(text);
  const names = (values: readonly string[]): readonly string[] | null =>
    values.length === 0 ? null : values;
  const price = {
    prompt: money(form.prompt),
    completion: money(form.completion),
    request: money(form.request),
  };
  return {
    day_usdc: money(form.day_usdc),
    month_usdc: money(form.month_usdc),
    requests_per_minute: number(form.requests_per_minute),
    tokens_per_minute: number(form.tokens_per_minute),
    models: names(form.models),
    providers: names(form.providers),
    max_price: Object.values(price).every((value) => value === null) ? null : price,
  };
}

/** All limits but those of money, in words. */
export function limitsInWords(limits: Limits): string {
  const { requests_per_minute: requests, tokens_per_minute: tokens, max_price: price } = limits;
  const atMost = (amount: string | null | undefined, what: string): string =>
    amount === null || amount === undefined ? '' : `at most ${shortMoney(amount)} ${what}`;
  return [
    requests === null || requests === undefined ? '' : `${counted(requests, 'call')} a minute`,
    tokens === null || tokens === undefined ? '' : `${shortCount(tokens)} tokens a minute`,
    (limits.models ?? []).join(', '),
    (limits.providers ?? []).join(', '),
    atMost(price?.prompt, 'for a million tokens of prompt'),
    atMost(price?.completion, 'for a million tokens of answer'),
    atMost(price?.request, 'a call'),
  ]
    .filter((words) => words !== '')
    .join(' · ');
}
