/** `@tallystick/sdk/session-file`: sessions in files, for Node and what has its modules. */
export { anchorSessionFile, type ReceiptAnchor } from './anchored-file.ts';
export type { SessionAnchoring } from './anchoring.ts';
export { ownKey } from './own-key.ts';
export {
  openSessionFile,
  readSessionSalt,
  type SessionFile,
  type SessionFileOptions,
} from './session-file.ts';
