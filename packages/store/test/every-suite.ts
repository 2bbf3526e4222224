import { apiKeySuite } from './api-key-suite.ts';
import { callCountSuite } from './call-count-suite.ts';
import { callSuite } from './call-suite.ts';
import { claimSuite } from './claim-suite.ts';
import { compressionSuite } from './compression-suite.ts';
import { contentSuite } from './content-suite.ts';
import { learningSuite } from './learning-suite.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { limitsSuite } from './limits-suite.ts';
import { listSuite } from './list-suite.ts';
import { logLeavesSuite } from './log-leaves-suite.ts';
import { logPostingsSuite } from './log-postings-suite.ts';
import { logTreeSuite } from './log-tree-suite.ts';
import { operatorSuite } from './operator-suite.ts';
import { paymentSuite } from './payment-suite.ts';
import { receiptCountSuite } from './receipt-count-suite.ts';
import { reconcileSuite } from './reconcile-suite.ts';
import { restSuite } from './rest-suite.ts';
import { sessionListSuite } from './session-list-suite.ts';
import { sessionSuite } from './session-suite.ts';
import { sliceSuite } from './slice-suite.ts';
import { statusSuite } from './status-suite.ts';
import { storeSuite } from './store-suite.ts';
import { streamSuite } from './stream-suite.ts';
import type { CreateDatabase } from './test-database.ts';
import { treasurySuite } from './treasury-suite.ts';
import { webhookSuite } from './webhook-suite.ts';

/** Tests every guarantee of the store on one adapter. @param name of the database, for the names of the tests */
export function everySuite(name: string, createDatabase: CreateDatabase): void {
  for (const suite of [
    storeSuite,
    logLeavesSuite,
    logTreeSuite,
    logPostingsSuite,
    apiKeySuite,
    ledgerSuite,
    limitsSuite,
    sliceSuite,
    compressionSuite,
    learningSuite,
    claimSuite,
    restSuite,
    listSuite,
    receiptCountSuite,
    sessionListSuite,
    sessionSuite,
    streamSuite,
    callSuite,
    callCountSuite,
    contentSuite,
    paymentSuite,
    treasurySuite,
    reconcileSuite,
    webhookSuite,
    statusSuite,
    operatorSuite,
  ]) {
    suite(name, createDatabase);
  }
}
