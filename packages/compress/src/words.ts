/** What this package knows of English words, for whoever compares texts by them. */
export { DIMENSIONS, termsByRow, vectorOf } from './extract/related.ts';
export { subjectsOf, termsOf } from './extract/terms.ts';
