import { expect, test } from 'vitest';
import { bytesText } from './bytes.ts';

test.each([
  [0, '0 bytes'],
  [812, '812 bytes'],
  [1_000, '1.00 kB'],
  [28_340_000, '28.3 MB'],
  [283_400_000, '283 MB'],
  [7_000_000_000_000_000, '7000 TB'],
])('%d bytes are %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});
