import { count } from '../../format/number.ts';
import type { CallDetail, FailedTry, TimelineStep } from './documents.ts';

/** A bar of the timeline, in milliseconds from the call's acceptance. */
export interface Moment {
  readonly title: string;
  /** What is said beside the title. */
  readonly about: string;
  readonly at: number;
  readonly ms: number;
  readonly state: 'own' | 'provider' | 'fail';
}

export interface Moments {
  readonly bars: readonly Moment[];
  readonly firstByte: number | null;
  /** Length of the whole, at least 1 ms. */
  readonly total: number;
}

/** What a call went through, as bars in the order of their beginnings. */
export function momentsOf(call: CallDetail): Moments {
  const { timeline, tries, answered } = call;
  const step = (name: TimelineStep['step']): TimelineStep | undefined =>
    timeline.find((one) => one.step === name);
  const bars: Moment[] = [];
  const own = (title: string, about: string, at: number, ms: number): void =>
    void bars.push({ title, about, at, ms, state: 'own' });

  const [compress, route, reserve] = [step('compress'), step('route'), step('reserve')];
  if (compress) own('Compress', shortened(call), compress.at_ms, compress.ms);
  if (route) {
    // The step of the route holds that of compression.
    const from = compress === undefined ? route.at_ms : compress.at_ms + compress.ms;
    own('Choose a model', call.routing?.outcome.model ?? '', from, route.at_ms + route.ms - from);
  }
  if (reserve) own('Reserve the money', '', reserve.at_ms, reserve.ms);
  bars.push(...failedTries(tries));
  const all = step('tries');
  const settle = step('settle');
  if (answered?.at_ms !== undefined && answered.ms !== undefined) {
    const { model, at_ms: at, ms } = answered;
    const about = `${model} ${call.stream ? 'begins to answer' : 'answers'}`;
    bars.push({ title: `Try ${tries.length + 1}`, about, at, ms, state: 'provider' });
    const from = at + ms;
    if (call.stream && settle !== undefined && settle.at_ms > from) {
      bars.push({ title: 'Answer', about: 'streamed', at: from, ms: settle.at_ms - from, state: 'provider' });
    }
  } else if (all !== undefined) {
    bars.push({ title: 'Provider', about: call.model ?? '', at: all.at_ms, ms: all.ms, state: 'provider' });
  }
  if (settle) own('Settle', 'bill and receipt', settle.at_ms, settle.ms);
  const ends = bars.map(({ at, ms }) => at + ms);
  return {
    bars: bars.toSorted((one, other) => one.at - other.at),
    firstByte: step('first_byte')?.at_ms ?? call.first_byte_ms,
    total: Math.max(call.total_ms ?? 0, ...ends, 1),
  };
}

function failedTries(tries: readonly FailedTry[]): Moment[] {
  return tries.flatMap(({ model, kind, status, at_ms: at, ms }, index) => {
    if (at === undefined || ms === undefined) return [];
    const title = `Try ${index + 1}`;
    return [{ title, about: `${model}: ${faultOf(kind, status)}`, at, ms, state: 'fail' as const }];
  });
}

const FAULTS: Readonly<Record<string, string>> = {
  gone: 'the provider no longer has this model',
  refused: 'the provider refused the request',
  rate_limited: 'the provider limits the rate of calls',
  overloaded: 'the provider is overloaded',
  server: 'the provider failed',
  timeout: 'the provider took too long',
  unreachable: 'the provider could not be reached',
  bad_answer: 'the provider’s answer could not be read',
  cut: 'the provider broke the answer off',
  too_long: 'the provider found the prompt too long',
  aborted: 'the client left',
  auth: 'the provider refused the service’s credential',
};

/** What went wrong with a try, in words. */
export function faultOf(kind: string, status: number | null): string {
  const words = FAULTS[kind] ?? kind;
  return status === null ? words : `${words} (${status})`;
}

function shortened({ compression }: CallDetail): string {
  const { tokens_before: before, tokens_after: after } = compression ?? {};
  if (typeof before !== 'number' || typeof after !== 'number') return '';
  return after < before ? `${count(before - after)} of ${count(before)} tokens cut` : 'nothing cut';
}

/** Places for a scale from 0 to `total`, about five, at round numbers of milliseconds. */
export function ticksOf(total: number): number[] {
  const rough = total / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.floor(total / step) + 1 }, (_, at) => at * step);
}
