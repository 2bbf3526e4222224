import { statSync } from 'node:fs';

/**
 * Whether other users than the owner may read a file. Its group may, where the file belongs to another user than that of
 * this process: Kubernetes gives a process the files of a Secret in no other way.
 */
export function othersMayRead(path: string): boolean {
  const { mode, uid } = statSync(path);
  return (mode & (uid === process.geteuid?.() ? 0o077 : 0o007)) !== 0;
}
