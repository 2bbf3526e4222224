import { expect, it } from 'vitest';
import { isChecksummed } from './checksum.ts';

it.each([
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', true],
  ['0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359', true],
  ['0x52908400098527886E0F7030069857D2E4169EE7', true],
  ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', true],
  ['0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED', false],
  ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeD', false],
])('the checksum of %s (examples of ERC-55)', (address, right) => {
  expect(isChecksummed(address)).toBe(right);
});
