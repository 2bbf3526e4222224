/** Data on English words that this package has, for other code that compares texts by them. */
export { DIMENSIONS, termsByRow, vectorOf } from './extract/related.ts';
export { subjectsOf, termsOf } from './extract/terms.ts';
