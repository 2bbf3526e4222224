import type { PolicyFault, WitnessPolicy } from '@tallystick/core';
import { createInput, onFile } from '../inputs.ts';
import { readPolicy } from '../witnesses.ts';

/** The witness policy that the reader gave. */
export interface PolicyDesk {
  /** Undefined if there is none. A fault is shown beside the box. */
  read(): WitnessPolicy | PolicyFault | undefined;
  set(bytes: Uint8Array, name: string): void;
}

/** Wires the box of the policy. `changed` is called after each change of it. */
export function createPolicyDesk(changed: () => unknown): PolicyDesk {
  const input = createInput('policy', changed);
  const set = (bytes: Uint8Array, name: string): void => {
    input.set(bytes, name);
    changed();
  };
  onFile('policy', async (bytes, name) => set(bytes, name));
  return {
    read() {
      const bytes = input.bytes();
      return bytes === null ? undefined : readPolicy(bytes);
    },
    set,
  };
}
