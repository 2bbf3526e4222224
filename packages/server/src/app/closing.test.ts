import { expect, it } from 'vitest';
import { Closing } from './closing.ts';

const never = (): Promise<void> => new Promise(() => {});

it('closes in the reverse order of opening', async () => {
  const order: string[] = [];
  const closing = new Closing();
  for (const name of ['store', 'log', 'timers']) closing.push(async () => void order.push(name));
  await closing.run();
  await closing.run();
  expect(order).toEqual(['timers', 'log', 'store']);
});

it('leaves a step behind that hangs, goes on with the others, and names it', async () => {
  const order: string[] = [];
  const closing = new Closing();
  closing.push(async () => void order.push('chain'));
  closing.push(never, 'the store', 20);
  closing.push(async () => void order.push('timers'));
  await expect(closing.run()).rejects.toThrow(
    'The service did not shut down cleanly: the store took more than 20 ms.',
  );
  expect(order).toEqual(['timers', 'chain']);
});

it('goes on after a step that fails', async () => {
  const order: string[] = [];
  const closing = new Closing();
  closing.push(async () => void order.push('store'));
  closing.push(() => Promise.reject(new Error('no route')), 'the treasury');
  await expect(closing.run()).rejects.toThrow('the treasury failed (no route)');
  expect(order).toEqual(['store']);
});
