import { EventEmitter } from 'node:events';
import { Context } from 'hono';
import { expect, it } from 'vitest';
import type { AppContext } from './context.ts';
import { clientSignal } from './disconnect.ts';

function answer(state: { readonly destroyed: boolean; readonly writableFinished: boolean }) {
  const outgoing = Object.assign(new EventEmitter(), state);
  const c = new Context(new Request('http://service.test/'), { env: { outgoing } }) as unknown as AppContext;
  return { outgoing, signal: clientSignal(c) };
}

it('aborts once the client leaves', () => {
  const { outgoing, signal } = answer({ destroyed: false, writableFinished: false });
  expect(signal.aborted).toBe(false);
  outgoing.emit('close');
  expect(signal.aborted).toBe(true);
});

it('has aborted where the client left before anybody asked', () => {
  expect(answer({ destroyed: true, writableFinished: false }).signal.aborted).toBe(true);
});

it('does not abort once the answer is complete', () => {
  const { outgoing, signal } = answer({ destroyed: false, writableFinished: true });
  outgoing.emit('close');
  expect(signal.aborted).toBe(false);
});
