import { dataOf } from '../words.ts';
import type words from './words.json';

/** Prose of sessions, which stands in the page beside that of the verifier. */
export const sessionProse = (dataOf('words') as typeof words).sessions;
