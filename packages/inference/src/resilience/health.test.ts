import * as fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { ProviderError, type ProviderErrorKind } from '../providers/provider.ts';
import { defaultBreakerPolicy } from './breaker.ts';
import { createHealth, type Health } from './health.ts';

const model = { provider: 'up', upstreamModel: 'm-1' };
const { failures, openMs, maxOpenMs, windowMs } = defaultBreakerPolicy;

let now = 0;
let health: Health;
const rests: unknown[] = [];

beforeEach(() => {
  now = 1_000;
  rests.splice(0);
  health = createHealth({
    now: () => now,
    onRest: ({ upstreamModel }, why, restMs) => rests.push([upstreamModel, why, restMs]),
  });
});

function fail(times: number, kind: ProviderErrorKind = 'server', retryAfterMs?: number): void {
  for (let time = 0; time < times; time += 1)
    health.failure(model, new ProviderError(kind, 'failed', { retryAfterMs }));
}

describe('health', () => {
  it('opens at enough failures, for that model of that provider alone', () => {
    fail(failures - 1);
    expect(health.available(model)).toBe(true);
    fail(1);
    expect(health.available(model)).toBe(false);
    expect(health.available({ ...model, upstreamModel: 'm-2' })).toBe(true);
    expect(health.available({ ...model, provider: 'other' })).toBe(true);
  });

  it('tells of each rest once, when it begins, and why', () => {
    fail(failures + 3);
    expect(rests).toEqual([['m-1', 'server', openMs]]);
    now += openMs;
    fail(1, 'rate_limited', 500);
    fail(1, 'auth');
    expect(rests.slice(1)).toEqual([['m-1', 'rate_limited', 500]]);
    now += maxOpenMs;
    fail(1, 'gone');
    fail(1, 'gone');
    expect(rests.slice(2)).toEqual([['m-1', 'gone', 3_600_000]]);
  });

  it('rests a model that another process tells of, as long as that one does', () => {
    fail(1, 'rate_limited', 5_000);
    const [told] = health.resting();
    expect(told).toEqual({ model: 'up/m-1', why: 'rate_limited', remainingMs: 5_000, until: now + 5_000 });
    const other = createHealth({ now: () => now });
    other.hear(health.resting());
    expect(other.rest(model)).toEqual({ gone: false, remainingMs: 5_000 });
    expect(other.light(model)).toEqual({ state: 'down', code: 'rate_limited' });
    expect(other.resting()).toEqual([]);
    now += 4_999;
    expect(other.available(model)).toBe(false);
    now += 1;
    expect(other.available(model)).toBe(true);
    other.hear(health.resting());
    expect(other.light(model)).toEqual({ state: 'unknown', code: 'not_called' });
  });

  it('takes the longest of the rests that it has and hears, until it hears otherwise', () => {
    const heard = (why: string, remainingMs: number) => ({ model: 'up/m-1', why, remainingMs });
    fail(1, 'rate_limited', 2_000);
    health.hear([heard('server', 3_000), heard('auth', 1_000)]);
    expect(health.rest(model)).toEqual({ gone: false, remainingMs: 3_000 });
    health.hear([heard('gone', 1_000)]);
    expect(health.rest(model)).toEqual({ gone: true, remainingMs: 2_000 });
    health.hear([]);
    expect(health.rest(model)).toEqual({ gone: false, remainingMs: 2_000 });
  });

  it('does not take a model for gone by hearsay if it answered here lately', () => {
    const gone = (remainingMs: number) => [{ model: 'up/m-1', why: 'gone', remainingMs }];
    health.success(model);
    health.hear(gone(3_600_000));
    expect(health.available(model)).toBe(true);
    health.hear(gone(60_000));
    expect(health.rest(model)).toEqual({ gone: true, remainingMs: 60_000 });
    now += 3_600_000;
    health.hear(gone(3_600_000));
    expect(health.available(model)).toBe(false);
  });

  it('stays closed while more calls succeed than fail', () => {
    for (let call = 0; call < failures * 2; call += 1) {
      health.success(model);
      health.success(model);
      fail(1);
    }
    expect(health.available(model)).toBe(true);
  });

  it('forgets failures that are long past', () => {
    fail(failures - 1);
    now += windowMs;
    fail(1);
    expect(health.available(model)).toBe(true);
  });

  it.each<ProviderErrorKind>(['aborted', 'refused'])('takes no notice of %s', (kind) => {
    fail(100, kind);
    expect(health.available(model)).toBe(true);
  });

  it('rests a model that is gone for an hour, but only for a minute where it has answered lately', () => {
    const hour = 60 * 60_000;
    fail(1, 'gone');
    expect(health.rest(model)).toEqual({ gone: true, remainingMs: hour });
    now += hour;
    health.success(model);
    fail(1, 'gone');
    expect(health.rest(model)).toEqual({ gone: true, remainingMs: 60_000 });
    now += 10 * 60_000;
    fail(1, 'gone');
    expect(health.rest(model)).toEqual({ gone: true, remainingMs: hour });
  });

  it('lets calls through after its time; a failure opens it for longer, a success closes it', () => {
    fail(failures);
    now += openMs;
    expect(health.available(model)).toBe(true);
    fail(1);
    now += openMs;
    expect(health.available(model)).toBe(false);
    now += openMs;
    expect(health.available(model)).toBe(true);
    health.success(model);
    fail(failures - 1);
    expect(health.available(model)).toBe(true);
  });

  it('gives a model the time that it asks for, within bounds', () => {
    fail(1, 'rate_limited', 3_000);
    now += 2_999;
    expect(health.available(model)).toBe(false);
    now += 1;
    expect(health.available(model)).toBe(true);
    fail(1, 'rate_limited', 1e9);
    now += maxOpenMs;
    expect(health.available(model)).toBe(true);
  });

  it('does not ask again at once where it is not let in', () => {
    fail(1, 'auth');
    expect(health.available(model)).toBe(false);
  });

  it('rests by order of the operator, which says so, until its time is over', () => {
    health.success(model);
    health.hear([{ model: 'up/m-1', why: 'rested_by_operator', remainingMs: 86_400_000 }]);
    expect(health.available(model)).toBe(false);
    expect(health.light(model)).toEqual({ state: 'down', code: 'rested_by_operator' });
    expect(health.recent(model)).toEqual({ answered: 1, failed: 0 });
    expect(rests).toEqual([]);
    now += 86_400_000;
    expect(health.available(model)).toBe(true);
  });

  it('is resumed by order of the operator, also where it rests here or another process told so', () => {
    fail(1, 'gone');
    fail(failures);
    const other = { model: 'up/m-1', why: 'gone', remainingMs: 3_600_000 };
    health.hear([other]);
    expect(health.available(model)).toBe(false);
    health.hear([other, { model: 'up/m-1', why: 'resumed_by_operator', remainingMs: 10_000 }]);
    expect(health.available(model)).toBe(true);
    expect(health.resting()).toEqual([]);
    fail(failures);
    health.hear([other, { model: 'up/m-1', why: 'resumed_by_operator', remainingMs: 9_000 }]);
    expect(health.available(model)).toBe(false);
    health.hear([{ model: 'up/m-1', why: 'resumed_by_operator', remainingMs: 10_000 }]);
    expect(health.available(model)).toBe(true);
  });

  it('is available again within its longest time, whatever happened', () => {
    const event = fc.constantFrom<ProviderErrorKind | 'success'>(
      'server',
      'auth',
      'timeout',
      'cut',
      'success',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(event, fc.nat(20_000)), { maxLength: 60 }), (events) => {
        now = 0;
        health = createHealth({ now: () => now });
        for (const [kind, pause] of events) {
          if (kind === 'success') health.success(model);
          else fail(1, kind);
          now += pause;
        }
        now += maxOpenMs;
        expect(health.available(model)).toBe(true);
      }),
    );
  });
});
