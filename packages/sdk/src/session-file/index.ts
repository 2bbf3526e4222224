/** `@tallystick/sdk/session-file`: sessions in files, for Node and what has its modules. */
export { ownKey, tallyHome } from './own-key.ts';
export { openSessionFile, type SessionFile, type SessionFileOptions } from './session-file.ts';
