import { dataOf } from '../words.ts';
import type words from './words.json';

/** This page's prose: it stands in the document as data and is no part of the script. */
export const prose = dataOf('words') as typeof words;
