export { POSTGRES_LIMITS, type PostgresLimits } from './postgres-limits.ts';
export { readPostgresUrl } from './postgres-url.ts';
export type { CommitQueue, Store, StoreObserver } from './store.ts';
