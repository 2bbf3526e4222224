import { pathPart } from '../http/path-part.ts';
import type { CallOptions, Transport } from '../http/transport.ts';
import type { ApiKey, GetLimitsAnswer, Limits, ListKeysAnswer, NewApiKey } from './documents.ts';
import { read, send } from './read.ts';

/** The API keys of an account, for the DID that owns it or a key that may manage keys. */
export interface AccountKeyMethods {
  /** Lists the keys, newest first. For the next page give the answer's `next_cursor` as `cursor`, until that is null. */
  listKeys(params?: ListKeysParams, call?: CallOptions): Promise<ListKeysAnswer>;
  /** Makes a key that the account pays for. Its `key` is shown this once. @throws ServiceError (key_cannot_manage) */
  createKey(params?: KeyParams, call?: CallOptions): Promise<NewApiKey>;
  /** Replaces the members that are given, of `limits` too; null takes one away. @throws ServiceError (key_not_found) */
  updateKey(id: string, params: KeyParams, call?: CallOptions): Promise<ApiKey>;
  /** Revokes a key, from the next request on. @throws ServiceError (key_not_found) */
  revokeKey(id: string, call?: CallOptions): Promise<ApiKey>;
  /**
   * Reads what the caller's own calls count in, with its limits and what it spent: the API key and, if it may manage keys,
   * the owner of its account; or the agent that signs.
   */
  getLimits(call?: CallOptions): Promise<GetLimitsAnswer>;
  /** Gives a key a new secret under the same id. @throws ServiceError (key_not_found) */
  rotateKey(id: string, params?: RotateKeyParams, call?: CallOptions): Promise<NewApiKey>;
}

export interface ListKeysParams {
  /** Most keys to return: 1 to 1,000; 50 when absent. */
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface KeyParams {
  readonly name?: string | null | undefined;
  /** RFC 3339; null for never. */
  readonly expiresAt?: string | null | undefined;
  /** Amounts are decimal text in USDC. */
  readonly limits?: Limits | null | undefined;
  /** Whether the key may manage the keys of its account. */
  readonly manages?: boolean | undefined;
  /** Whether prompt and answer of its calls are kept where the operator allows it and the call does not say it itself. */
  readonly keep?: boolean | undefined;
}

export interface RotateKeyParams {
  /** How long the secret before stays good, in seconds: 0 when absent, a week at most. */
  readonly graceSeconds?: number | undefined;
}

const PATH = '/v1/keys';

export function accountKeyMethods(transport: Transport): AccountKeyMethods {
  const pathOf = (id: string): string => `${PATH}/${pathPart(id, 'id')}`;
  return {
    listKeys: ({ limit, cursor } = {}, call) => read(transport, PATH, call, { limit, cursor }),
    createKey: (params = {}, call) => send(transport, PATH, membersOf(params), call),
    async updateKey(id, params, call) {
      return (await transport.patch<ApiKey>(pathOf(id), membersOf(params), call)).json;
    },
    async revokeKey(id, call) {
      return (await transport.delete<ApiKey>(pathOf(id), call)).json;
    },
    getLimits: (call) => read(transport, '/v1/limits', call),
    rotateKey: async (id, { graceSeconds } = {}, call) =>
      send(transport, `${pathOf(id)}/rotate`, { grace_seconds: graceSeconds }, call),
  };
}

function membersOf({ name, expiresAt, limits, manages, keep }: KeyParams): object {
  return { name, expires_at: expiresAt, limits, manages, keep };
}
