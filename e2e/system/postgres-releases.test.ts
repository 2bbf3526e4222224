import { afterAll, beforeAll, describe } from 'vitest';
import { ledgerSuite } from '../../packages/store/test/ledger-suite.ts';
import { logTreeSuite } from '../../packages/store/test/log-tree-suite.ts';
import { storeSuite } from '../../packages/store/test/store-suite.ts';
import type { CreateDatabase } from '../../packages/store/test/test-database.ts';
import { temporaryFolder } from '../process.ts';
import { type PostgresCluster, startCluster } from './postgres-cluster.ts';
import { POSTGRES_RELEASES, postgresRelease } from './postgres-releases.ts';
import { storeDatabases } from './store-databases.ts';

// All suites run on the newest release in `npm test`, and Debian’s, the oldest, is tested behind pgbouncer and as a cluster: here
// are those that the rest builds on.
describe.each(POSTGRES_RELEASES)('PostgreSQL %s', (version) => {
  let cluster: PostgresCluster;
  let createDatabase: CreateDatabase;
  beforeAll(async () => {
    // Nothing here depends on what survives the machine.
    const settings = 'fsync = off\n';
    cluster = await startCluster(temporaryFolder(), { settings, programs: postgresRelease(version) });
    createDatabase = await storeDatabases(cluster);
  });
  afterAll(() => cluster?.stop('immediate'));

  for (const suite of [storeSuite, logTreeSuite, ledgerSuite]) suite('it', () => createDatabase());
});
