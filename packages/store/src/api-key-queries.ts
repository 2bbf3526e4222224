import type { ApiKeyRow } from '@tallystick/callers';
import { type Compiler, statement } from './statement.ts';

export function apiKeyQueries(db: Compiler) {
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
      }),
    ),
    apiKeyByHash: statement((v: { hash: string }) => keys.where('hash', '=', v.hash)),
    apiKeyById: statement((v: { id: string }) => keys.where('id', '=', v.id)),
    revokeApiKey: statement((v: { id: string; at: number }) =>
      db
        .updateTable('api_keys')
        .set({ revoked_at: v.at })
        .where('id', '=', v.id)
        .where('revoked_at', 'is', null),
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
