import type { ListedReceipt, ReceiptFilters } from '@tallystick/receipts';

export const OWNER = 'caller:key_a';
export const OTHER = 'caller:key_b';
export const NOW = 1_800_000_000;

export const NO_FILTER: ReceiptFilters = {
  id: null,
  requestHash: null,
  session: null,
  did: null,
  key: null,
  model: null,
  purpose: null,
  profile: null,
  provider: null,
  status: null,
  tag: null,
  minCost: null,
  maxCost: null,
};

export function row(id: string, change: Partial<ListedReceipt> = {}): ListedReceipt {
  return {
    id,
    owner: OWNER,
    at: 100,
    profile: 'standard',
    purpose: 'demo',
    did: 'did:web:a.example',
    model: 'openai/small',
    provider: 'openai',
    status: 'ok',
    key: 'key_a',
    requestHash: 'ab',
    session: 'cd',
    cost: 2n ** 62n,
    leafIndex: null,
    expiresAt: NOW + 1,
    ...change,
  };
}
