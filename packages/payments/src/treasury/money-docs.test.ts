import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { KEY_WEBHOOK_PATH } from '../keys/webhook.ts';
import { REFUND_REASONS } from './decide.ts';

const page = readFileSync(new URL('../../../../docs/money.md', import.meta.url), 'utf8');

it.each(REFUND_REASONS)('docs/money.md says what ends as %s', (reason) => {
  expect(page).toContain(`\`${reason}\``);
});

it('docs/money.md says where a domain takes its keys', () => {
  expect(page).toContain(`https://<domain>${KEY_WEBHOOK_PATH}`);
});
