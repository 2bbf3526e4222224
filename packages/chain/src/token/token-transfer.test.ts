import { encodeFunctionData } from 'viem/utils';
import { expect, it } from 'vitest';
import { memoOf } from './token-transfer.ts';
import { USDC_ABI } from './usdc.ts';

const usdc = '0x05Dc000000000000000000000000000000000006';
const to = '0x00000000000000000000000000000000000000aa';
const other = '0x00000000000000000000000000000000000000bb';
const input = encodeFunctionData({ abi: USDC_ABI, functionName: 'transfer', args: [to, 7n] });
const called = usdc.toLowerCase() as typeof usdc;

it.each([
  ['what follows the call', { to: called, input: `${input}7469` }, [0x74, 0x69]],
  ['nothing where nothing follows', { to: called, input }, []],
  ['none for a call of another contract', { to: other, input: `${input}7469` }, null],
  ['none for a new contract', { to: null, input: `${input}7469` }, null],
  ['none for a call cut short', { to: called, input: input.slice(0, -2) }, null],
  ['none for another call', { to: called, input: `0x12345678${input.slice(10)}` }, null],
] as const)('a memo is %s', (_, call, expected) => {
  const memo = memoOf(call as { to: typeof usdc; input: `0x${string}` }, { to, amount: 7n }, usdc);
  expect(memo && [...memo]).toEqual(expected);
});

it.each([
  ['another payee', { to: other, amount: 7n }],
  ['another amount', { to, amount: 8n }],
] as const)('a memo is none for %s', (_, moved) => {
  expect(memoOf({ to: called, input: `${input}7469` }, moved, usdc)).toBe(null);
});
