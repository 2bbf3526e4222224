export { type ActaDecision, signActa } from './acta/sign.ts';
export { openSignedStatement, type SignedStatement } from './cose-receipt/statement.ts';
export type {
  ForeignDocument,
  ForeignFacts,
  ForeignFamily,
  ForeignFamilyName,
  ForeignReceipt,
  ForeignSignature,
} from './family.ts';
export { type ForeignKey, keyName, parseForeignKeys } from './keys.ts';
export {
  type ForeignVerification,
  foreignFamilies,
  type VerifyForeignOptions,
  verifyForeign,
} from './verify-foreign.ts';
