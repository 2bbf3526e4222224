import type benchmark from './benchmark/words.json';
import type evidence from './evidence/words.json';
import type landing from './landing/words.json';
import type leaderboard from './leaderboard/words.json';
import type log from './log/words.json';
import type receipts from './receipts/words.json';
import type status from './status/words.json';
import type usage from './usage/words.json';
import { dataOf } from './words.ts';

/** The prose of the page that this script belongs to. It stands in the document as data, outside the script. */
const words = dataOf('words');

export const benchmarkProse = words as typeof benchmark;
export const evidenceProse = words as typeof evidence;
export const landingProse = words as typeof landing;
export const leaderboardProse = words as typeof leaderboard;
export const logProse = words as typeof log;
/** Prose of the receipts page, which also has that of the verifier. */
export const receiptsProse = (words as typeof receipts).receipts;
export const statusProse = words as typeof status;
export const usageProse = words as typeof usage;
