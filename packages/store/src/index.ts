export { POSTGRES_LIMITS, type PostgresLimits } from './postgres-limits.ts';
export type { Store } from './store.ts';
