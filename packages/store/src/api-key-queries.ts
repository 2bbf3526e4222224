import type { ApiKeyRow, KeyChange } from '@tallystick/callers';
import { sql } from 'kysely';
import type { Dialect } from './dialect.ts';
import { type Compiler, statement } from './statement.ts';

export function apiKeyQueries(db: Compiler, { forUpdate }: Pick<Dialect, 'forUpdate'>) {
  const keys = db
    .selectFrom('api_keys')
    .select([
      'id',
      'hash',
      'tier',
      'label',
      'created_at as createdAt',
      'revoked_at as revokedAt',
      'expires_at as expiresAt',
      'routing',
      'owner',
      'manages',
      'keep',
      'limits',
      'last_used_at as lastUsedAt',
      'previous_hash as previousHash',
      'previous_until as previousUntil',
    ]);
  return {
    insertApiKey: statement((v: ApiKeyRow) =>
      db.insertInto('api_keys').values({
        id: v.id,
        hash: v.hash,
        tier: v.tier,
        label: v.label,
        created_at: v.createdAt,
        revoked_at: v.revokedAt,
        expires_at: v.expiresAt,
        routing: v.routing,
        owner: v.owner,
        manages: v.manages,
        keep: v.keep,
        limits: v.limits,
        last_used_at: v.lastUsedAt,
        previous_hash: v.previousHash,
        previous_until: v.previousUntil,
      }),
    ),
    apiKeyByHash: statement((v: { hash: string }) => keys.where('hash', '=', v.hash)),
    apiKeyByPreviousHash: statement((v: { hash: string }) => keys.where('previous_hash', '=', v.hash)),
    apiKeyById: statement((v: { id: string }) => keys.where('id', '=', v.id)),
    lockApiKey: statement((v: { id: string }) => keys.where('id', '=', v.id).modifyEnd(forUpdate)),
    revokeApiKey: statement((v: { id: string; at: number }) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: v.at })
        .where('id', '=', v.id)
        .where('revoked_at', 'is', null),
    ),
    routeApiKey: statement((v: { id: string; routing: string | null }) =>
      db.updateTable('api_keys').set({ routing: v.routing }).where('id', '=', v.id),
    ),
    changeApiKey: statement((v: KeyChange & { id: string }) =>
      db
        .updateTable('api_keys')
        .set({ label: v.label, limits: v.limits, expires_at: v.expiresAt, manages: v.manages, keep: v.keep })
        .where('id', '=', v.id),
    ),
    rotateApiKey: statement((v: { id: string; hash: string; previousUntil: number }) =>
      db
        .updateTable('api_keys')
        .set((key) => ({ previous_hash: key.ref('hash'), previous_until: v.previousUntil, hash: v.hash }))
        .where('id', '=', v.id),
    ),
    noteApiKeyUse: statement((v: { id: string; at: number }) =>
      db
        .updateTable('api_keys')
        .set({ last_used_at: v.at })
        .where('id', '=', v.id)
        .where((key) => key.or([key('last_used_at', 'is', null), key('last_used_at', '<', v.at)])),
    ),
    pageOfOwnedKeys: statement((v: { owner: string; createdAt: number; id: string; limit: number }) =>
      keys
        .where(sql`coalesce(owner, id)`, '=', v.owner)
        .where((key) => key(key.refTuple('created_at', 'id'), '<', key.tuple(v.createdAt, v.id)))
        .orderBy('created_at', 'desc')
        .orderBy('id', 'desc')
        .limit(v.limit),
    ),
    limitsOfDid: statement((v: { did: string }) =>
      db.selectFrom('did_limits').select('limits').where('did', '=', v.did),
    ),
    /** Keeps others who change them waiting until the transaction ends. */
    lockLimitsOfDid: statement((v: { did: string }) =>
      db
        .insertInto('did_limits')
        .values({ did: v.did, limits: sql.lit('{}') })
        .onConflict((conflict) => conflict.column('did').doUpdateSet({ did: v.did })),
    ),
    deleteLimitsOfDid: statement((v: { did: string }) =>
      db.deleteFrom('did_limits').where('did', '=', v.did),
    ),
    putLimitsOfDid: statement((v: { did: string; limits: string }) =>
      db
        .insertInto('did_limits')
        .values({ did: v.did, limits: v.limits })
        .onConflict((conflict) => conflict.column('did').doUpdateSet({ limits: v.limits })),
    ),
    pageOfApiKeys: statement((v: { createdAt: number; id: string; limit: number }) =>
      keys
        .where((key) => key(key.refTuple('created_at', 'id'), '>', key.tuple(v.createdAt, v.id)))
        .orderBy('created_at')
        .orderBy('id')
        .limit(v.limit),
    ),
  };
}

export type ApiKeyQueries = ReturnType<typeof apiKeyQueries>;
