import type { ByteSource } from '@tallystick/core';
import { createTenant, createTenantKey } from '../../callers/src/manage-tenants.ts';
import { withApiKeySecret } from '../../issuers/src/keyring.ts';
import type { TestService } from './service.ts';

/** A tenant of a service, with a key. */
export interface TestTenant {
  readonly id: string;
  readonly keyId: string;
  readonly headers: { readonly authorization: string };
}

export async function newTenant(service: TestService, label = 'a customer'): Promise<TestTenant> {
  const id = await createTenant(service.services.store, { label, now: service.clock() });
  return { id, ...(await newTenantKey(service, id)) };
}

export async function newTenantKey(
  service: TestService,
  tenant: string,
): Promise<Pick<TestTenant, 'keyId' | 'headers'>> {
  const { store, issuer } = service.services;
  const { apiKeySecret } = withApiKeySecret(issuer.keyring);
  const made = await createTenantKey(store, apiKeySecret, { tenant, label: null, now: service.clock() });
  return { keyId: made.id, headers: { authorization: `Bearer ${made.key}` } };
}

/** A bundle that is in memory. */
export function inMemory(bytes: Uint8Array): ByteSource {
  return { size: bytes.length, read: async (from, to) => bytes.subarray(from, to) };
}

/** The answer to a request for evidence, its bytes read. */
export async function evidenceOf(
  service: TestService,
  { id, headers }: TestTenant,
  { query = '', more = {} }: { query?: string; more?: Record<string, string> } = {},
): Promise<{ status: number; headers: Headers; bytes: Uint8Array }> {
  const response = await service.app.request(`/tenants/${id}/evidence${query}`, {
    headers: { ...headers, ...more },
  });
  return {
    status: response.status,
    headers: response.headers,
    bytes: new Uint8Array(await response.arrayBuffer()),
  };
}
