import { Client } from 'pg';
import { openPostgresStore } from '../../packages/store/src/postgres.ts';
import { POSTGRES_LIMITS } from '../../packages/store/src/postgres-limits.ts';
import type { CreateDatabase } from '../../packages/store/test/test-database.ts';
import type { PostgresCluster } from './postgres-cluster.ts';

/** A busy machine may take longer than a service may wait for a connection. */
const LIMITS = { ...POSTGRES_LIMITS, connectMs: 60_000 };

/**
 * Databases of a cluster with nothing but the store's tables.
 * @param urlOf the URL by which the store opens a database: the cluster's own, unless something stands before it
 */
export async function storeDatabases(
  cluster: PostgresCluster,
  urlOf: (database: string) => string = cluster.url,
): Promise<CreateDatabase> {
  await execute(cluster.url('postgres'), 'create database store');
  await (await openPostgresStore(cluster.url('store'))).close();
  let databases = 0;
  return async () => {
    databases += 1;
    const database = `store_${databases}`;
    await execute(cluster.url('postgres'), `create database ${database} template store`);
    return {
      open: () => openPostgresStore(urlOf(database), LIMITS),
      execute: (sql) => execute(cluster.url(database), sql),
    };
  };
}

export async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
