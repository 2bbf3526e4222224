import type benchmark from './benchmark/words.json';
import type evidence from './evidence/words.json';
import type landing from './landing/words.json';
import { dataOf } from './words.ts';

/** The prose of the page that this script belongs to. It stands in the document as data, outside the script. */
const words = dataOf('words');

export const benchmarkProse = words as typeof benchmark;
export const evidenceProse = words as typeof evidence;
export const landingProse = words as typeof landing;
