export {
  type CoseInclusion,
  type CoseReceipt,
  type CoseReceiptClaims,
  parseCoseReceipt,
  signCoseReceipt,
} from './receipt.ts';
export { encodeCbor } from './sign1.ts';
