import { dataOf } from '../words.ts';
import type words from './words.json';

/** The texts of this page, beside those of the verifier. */
export const { receipts: prose } = dataOf('words') as typeof words;
