export type { Case } from './case.ts';
export { conversations, shapes } from './conversations.ts';
export { hopCases, logCases, needleCases } from './others.ts';
