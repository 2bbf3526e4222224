import { TallyError } from '@tallystick/core';
import type { AnswerFact } from '@tallystick/kit';
import { expect, it } from 'vitest';
import { received } from '../../kit/test/received.ts';
import { showLowBalance } from './low-balance.ts';

const ask = async (failure: Error): Promise<AnswerFact[]> => {
  const call = received();
  const means = {
    store: { ledger: { balance: () => Promise.reject(failure) } },
    config: { sales: { lowBalance: 1n } },
  };
  await showLowBalance(means, { account: 'caller:did:key:z', atLeast: null }, call);
  return call.facts;
};

it('a database that is unavailable costs the header, and not the answer', async () => {
  expect(await ask(new TallyError('unavailable', 'The database cannot be reached at the moment.'))).toEqual(
    [],
  );
});

it('a fault of the program is no outage', async () => {
  await expect(ask(new TypeError('no such thing'))).rejects.toThrow(TypeError);
});
