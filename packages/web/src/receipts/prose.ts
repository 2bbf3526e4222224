import { dataOf } from '../words.ts';
import type words from './words.json';

/** This page's own prose, beside that of the verifier. */
export const { receipts: prose } = dataOf('words') as typeof words;
