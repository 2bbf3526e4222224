import { expect, it } from 'vitest';
import { ProviderError, type ProviderErrorKind } from '../providers/provider.ts';
import { createHealth } from './health.ts';
import { type Light, lightOfAll } from './light.ts';

const MINUTE = 60_000;
const model = { provider: 'up', upstreamModel: 'm-1' };

/** The light after these: a call that is answered, one that fails so, or a wait in milliseconds. */
function after(...events: readonly ('answer' | ProviderErrorKind | number)[]): Light {
  let now = 1_000;
  const health = createHealth({ now: () => now });
  for (const event of events) {
    if (typeof event === 'number') now += event;
    else if (event === 'answer') health.success(model);
    else health.failure(model, new ProviderError(event, 'failed'));
  }
  return health.light(model);
}

const answers = Array.from({ length: 30 }, () => 'answer' as const);

it.each([
  ['nobody called it', [], 'unknown not_called'],
  ['it answered', ['answer'], 'up ok'],
  ['its answer is long past', ['answer', 5 * MINUTE], 'unknown not_called'],
  ['its answer is not long past', ['answer', 4 * MINUTE], 'up ok'],
  ['the only call failed', ['server'], 'down server'],
  ['one call failed after a fresh answer', ['answer', 'timeout'], 'degraded timeout'],
  ['one call failed after an answer that is not fresh', ['answer', MINUTE, 'timeout'], 'down timeout'],
  ['a failure with nothing after it for a minute', ['answer', 'cut', MINUTE], 'down cut'],
  [
    'three calls in a row failed after a thousand answers',
    [...answers, 'server', 'server', 'server'],
    'down server',
  ],
  ['it answered after failures', ['server', 'server', 'answer'], 'degraded failing'],
  ['one call of thirty failed', [...answers, 'server', 'answer'], 'up ok'],
  ['the failures are long past', ['server', 5 * MINUTE, 'answer'], 'up ok'],
  ['the client disconnected', ['aborted'], 'unknown not_called'],
  ['the request was at fault', ['refused'], 'unknown not_called'],
  ['the operator’s key is refused', ['answer', 'auth'], 'down auth'],
  ['the provider has it no more', ['answer', 'gone'], 'down model_gone'],
  ['the provider has it no more, for long', ['gone', 59 * MINUTE], 'down model_gone'],
  ['the rest of a model that is gone is over', ['gone', 61 * MINUTE], 'unknown not_called'],
  ['it is back', ['gone', 61 * MINUTE, 'answer'], 'up ok'],
] as const)('%s', (_, events, expected) => {
  const { state, code } = after(...events);
  expect(`${state} ${code}`).toBe(expected);
});

it.each([
  [[], 'unknown not_called'],
  [['unknown not_called', 'up ok'], 'up ok'],
  [['unknown not_called', 'down server'], 'down server'],
  [['up ok', 'down model_gone'], 'degraded model_gone'],
  [['up ok', 'degraded failing'], 'degraded failing'],
  [['degraded timeout', 'down server'], 'degraded server'],
] as const)('of %j the whole is %s', (lights, expected) => {
  const parts = lights.map((light) => {
    const [state, code] = light.split(' ');
    return { state, code } as Light;
  });
  const { state, code } = lightOfAll(parts);
  expect(`${state} ${code}`).toBe(expected);
});
