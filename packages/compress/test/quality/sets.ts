export type { Case } from './case.ts';
export { conversations, halves, shapes } from './conversations.ts';
export { hopCases, logCases, needleCases } from './others.ts';
export { recordCases, traceCases } from './records.ts';
