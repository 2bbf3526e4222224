import { describe, expect, it } from 'vitest';
import { readRefusal } from './broadcast-reply.ts';

const wordings = {
  known: [
    'already known',
    'ALREADY_EXISTS: already known',
    'INTERNAL_ERROR: existing tx with same hash',
    'AlreadyKnown',
    'Known transaction',
    'transaction already imported',
    'known transaction. transaction with hash 0x11 is already in the system',
  ],
  nonce_used: [
    'nonce too low',
    'nonce too low: next nonce 8, tx nonce 7',
    'nonce too low: address 0x22, tx: 7 state: 8',
    'OldNonce, Current nonce: 8, nonce of rejected tx: 7',
    'Nonce too low',
    'nonce too low. allowed nonce range: 8 - 28, actual: 7',
  ],
  underpriced: [
    'replacement transaction underpriced',
    'transaction underpriced: gas tip cap 0, minimum needed 1000000',
    'could not replace existing tx',
    'underpriced',
    'fee too low',
    'ReplacementNotAllowed',
    'FeeTooLow, MaxFeePerGas too low',
    'FeeTooLowToCompete',
    'Gas price below configured minimum gas price',
    'max fee per gas less than block base fee',
    'max fee per gas less than block base fee: address 0x22, maxFeePerGas: 1, baseFee: 7',
  ],
  insufficient_funds: [
    'insufficient funds for gas * price + value: balance 0, tx cost 24400, overshot 24400',
    'Insufficient funds for gas * price + value',
    'insufficient funds',
    'InsufficientFunds, Account balance: 0, cumulative cost: 24400',
    'Upfront cost exceeds account balance',
    'Not enough balance to cover the fee + value',
  ],
  refused: [
    'txpool is full',
    'tx fee (4.00 ether) exceeds the configured cap (1.00 ether)',
    'invalid chain id for signer',
  ],
};

describe('what nodes say of a transaction that they do not take', () => {
  const table = Object.entries(wordings).flatMap(([kind, texts]) => texts.map((text) => ({ kind, text })));

  it.each(table)('"$text" is $kind', ({ kind, text }) => {
    expect(readRefusal(text)).toEqual(kind === 'refused' ? { kind, reason: text } : { kind });
  });
});
