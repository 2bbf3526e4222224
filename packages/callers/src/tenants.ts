import { TallyError } from '@tallystick/core';
import type { Received } from '@tallystick/kit';
import { API_KEY_ERRORS, type ApiKeys } from './authenticate.ts';
import type { TenantStore } from './tenant-store.ts';

/** Which tenant a request is of: by its key alone, never by its path. */
export interface Tenants {
  /**
   * The tenant whose key the request carries, or null where it carries none or another kind of key.
   * @throws api_key_invalid, api_key_revoked
   */
  of(received: Received): Promise<string | null>;
  /**
   * The tenant whose key the request carries, which must be the one of the path.
   * @throws api_key_missing, api_key_invalid, api_key_revoked; tenant_not_found for another id, whether there is such a
   * tenant or not: nothing is looked up
   */
  require(received: Received, id: string): Promise<string>;
}

/** The codes that `Tenants.require` throws. */
export const TENANT_ERRORS = [...API_KEY_ERRORS, 'tenant_not_found'] as const;

/** The request header of a tenant's routes, for the reference. */
export const TENANT_HEADERS = {
  Authorization: 'Required: `Bearer` and a tenant key, `k_ten_…`.',
};

export function createTenants(store: { readonly tenants: TenantStore }, apiKeys: ApiKeys): Tenants {
  const ofKey = async (key: string): Promise<string> => {
    const tenant = await store.tenants.ofKey(key);
    if (tenant !== null) return tenant;
    throw new TallyError('api_key_invalid', `The API key ${key} belongs to no tenant.`);
  };
  return {
    async of(received) {
      const key = await apiKeys.findTenant(received);
      return key === null ? null : ofKey(key.id);
    },
    async require(received, id) {
      const key = await apiKeys.requireTenant(received);
      const tenant = await ofKey(key.id);
      if (tenant === id) return tenant;
      throw new TallyError('tenant_not_found', 'This API key does not belong to a tenant with that id.');
    },
  };
}
