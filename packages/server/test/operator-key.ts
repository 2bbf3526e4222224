import { createOperatorKey } from '../../callers/src/operator-keys.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import type { TestService } from './service.ts';

/** A key of an operator of a service. */
export interface TestOperator {
  readonly id: string;
  readonly headers: { readonly authorization: string };
}

export async function newOperator(service: TestService): Promise<TestOperator> {
  const { store, issuer } = service.services;
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  const { id, key } = await createOperatorKey(store, apiKeySecret, { label: null, now: service.clock() });
  return { id, headers: { authorization: `Bearer ${key}` } };
}
