import { TallyError } from '@tallystick/core';
import { expect, it } from 'vitest';
import { showLowBalance } from './low-balance.ts';

const ask = async (failure: Error): Promise<Record<string, string>> => {
  const headers: Record<string, string> = {};
  const means = {
    store: { ledger: { balance: () => Promise.reject(failure) } },
    config: { sales: { lowBalance: 1n } },
  };
  await showLowBalance(means, { account: 'caller:did:key:z', atLeast: null }, { headers });
  return headers;
};

it('a database that is unavailable costs the header, and not the answer', async () => {
  expect(await ask(new TallyError('unavailable', 'The database cannot be reached at the moment.'))).toEqual(
    {},
  );
});

it('a fault of the program is no outage', async () => {
  await expect(ask(new TypeError('no such thing'))).rejects.toThrow(TypeError);
});
