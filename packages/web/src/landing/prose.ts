import { dataOf } from '../words.ts';
import type words from './words.json';

/** The texts of this page, read from the document's JSON block `words`. */
export const prose = dataOf('words') as typeof words;
