import { expect, it } from 'vitest';
import { createGate } from './concurrency-limit.ts';

/** Work that goes on until it is let go. */
function held() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, release: () => resolve() };
}

const refusal = expect.objectContaining({ code: 'rate_limited', facts: { retryAfter: 15 } });

it('lets each partner run so many at once, and all together so many', async () => {
  const gate = createGate({ perPartner: 2, together: 3 });
  const run = (partner: string, work: () => Promise<unknown>) => gate.run(partner, work);
  const [a, b, c] = [held(), held(), held()];
  const running = [run('one', a.work), run('one', b.work)];
  await expect(run('one', async () => {})).rejects.toEqual(refusal);
  running.push(run('two', c.work));
  await expect(run('three', async () => {})).rejects.toEqual(refusal);

  a.release();
  await running[0];
  await expect(run('one', async () => 'in')).resolves.toBe('in');
  b.release();
  c.release();
  await Promise.all(running);
});

it('gives the place back where the work fails', async () => {
  const gate = createGate({ perPartner: 1, together: 1 });
  const run = (work: () => Promise<unknown>) => gate.run('one', work);
  await expect(run(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(run(async () => 'in')).resolves.toBe('in');
});
